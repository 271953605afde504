package quarry_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"quarry"
	"quarry/change"
	"quarry/fault"
	"quarry/internal/rootfs"
	"quarry/internal/rootfs/layer"
	regime "quarry/internal/stress"
)

// faultyScript changes, creates, moves and deletes files.
const faultyScript = `sub("one", "1")
write("new/deep/b.txt", "new")
move("m.txt", "moved/m.txt")
delete("gone.txt")
insert("a.txt", "last")
replace("c.txt", "two", "2")`

// Every system call of a script's change fails once, or from then on, in every way: the
// tree is the old one or the new one as the answer says, all of it can be undone, and
// nothing is left over.
func TestScriptFaults(t *testing.T) {
	regime.SkipTiny(t)
	run := regime.Start(t, "nth fault: the change of a script", 1, 1)
	var want scriptOutcome
	if problem := runScript(t, &rootfs.Layer{}, nil, &want); problem != "" {
		t.Fatal(problem)
	}
	kinds := []error{unix.ENOSPC, unix.EIO, unix.EACCES, unix.EROFS, unix.EMFILE, layer.ErrShort}
	for n := range want.calls {
		for k, kind := range kinds {
			for _, forever := range []bool{false, true} {
				if !regime.Takes((n*len(kinds)+k)*2 + map[bool]int{true: 1}[forever]) {
					continue
				}
				g := &gateTrial{}
				layer := &rootfs.Layer{Before: g.call}
				if forever {
					layer.Boot = "0badb007" // the machine is started again before anyone looks
				}
				start := func(on bool) int { return g.turn(on, n, kind, forever) }
				if problem := runScript(t, layer, start, &want); problem != "" {
					t.Fatalf("call %d of %d fails with %v (forever %v): %s", n, want.calls, kind, forever, problem)
				}
				run.Tried(1)
			}
		}
	}
}

type scriptOutcome struct {
	tree  map[string]string
	calls int
}

// runScript makes the change of the script in a fresh tree, with faults from the moment
// on that turn is told, and says what is wrong afterwards. Without turn, want is filled in.
func runScript(t *testing.T, layer *rootfs.Layer, turn func(on bool) int, want *scriptOutcome) (problem string) {
	base := regime.FastDir(t)
	defer os.RemoveAll(base)
	dir := filepath.Join(base, "ws")
	for name, text := range map[string]string{"ws/a.txt": "one\none two\n", "ws/c.txt": "two\n", "ws/m.txt": "m\n", "ws/gone.txt": "gone\n", "state/x": "", "data/x": ""} {
		full := filepath.Join(base, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	options := func(layer *rootfs.Layer) *quarry.Options {
		o := &quarry.Options{StateDir: filepath.Join(base, "state"), TrashDir: filepath.Join(base, "data"), Trash: change.TrashLocal}
		quarry.Layered(o, layer)
		return o
	}
	counted := &gateTrial{}
	if turn == nil {
		layer.Before = counted.call
	}
	ws, err := quarry.Open(dir, options(layer))
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	first := snapshot(t, dir)
	args, _ := json.Marshal(map[string]string{"script": faultyScript})
	if turn != nil {
		turn(true)
	} else {
		counted.turn(true, 0, nil, false)
	}
	res, err := withScripts(t, ws).Call(ctx, "change", args)
	if err != nil {
		t.Fatal(err)
	}
	if turn != nil {
		turn(false)
	} else {
		want.calls = counted.turn(false, 0, nil, false)
	}
	now := withoutConflicts(snapshot(t, dir))
	for name := range now {
		if rootfs.IsTemp(filepath.Base(name)) { // the next start takes it away
			delete(now, name)
		}
	}
	if turn == nil {
		want.tree = now
		if res.IsError {
			return res.Text
		}
	}
	partly := strings.Contains(res.Text, "could not be rolled back")
	switch {
	case !res.IsError && treeDiff(want.tree, now) != "":
		return "success, and not the new tree: " + treeDiff(want.tree, now)
	case res.IsError && !partly && treeDiff(first, now) != "":
		return res.Text + "\nand not the old tree: " + treeDiff(first, now)
	}
	if err := ws.Close(); err != nil {
		return err.Error()
	}
	again, err := quarry.Open(dir, options(&rootfs.Layer{}))
	if err != nil {
		return "does not open: " + err.Error()
	}
	defer again.Close()
	for {
		if _, err := again.Undo(ctx, "", nil); fault.CodeOf(err) == fault.NotFound && err != nil {
			break
		} else if err != nil {
			return "undo: " + err.Error()
		}
	}
	if diff := treeDiff(first, withoutConflicts(snapshot(t, dir))); diff != "" {
		return res.Text + "\nand after undoing all: " + diff
	}
	return ""
}

// withoutConflicts leaves out what is kept beside a file when a change can't be rolled
// back properly either.
func withoutConflicts(files map[string]string) map[string]string {
	for name := range files {
		if strings.Contains(name, ".conflict-") {
			delete(files, name)
		}
	}
	return files
}
