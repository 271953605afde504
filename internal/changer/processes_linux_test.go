package changer_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"quarry"
	"quarry/change"
	"quarry/fault"
	"quarry/internal/notes"
	regime "quarry/internal/stress"
)

// pick returns short or long, for tests that aren't part of a stress regime.
func pick(short, long int) int {
	if regime.Long() {
		return long
	}
	return short
}

// TestEditorChild is one of the processes that edit the same files.
func TestEditorChild(t *testing.T) {
	base, name := os.Getenv("QUARRY_EDITOR"), os.Getenv("QUARRY_NAME")
	if base == "" {
		t.Skip("runs as a child of TestLostUpdate")
	}
	ws, err := quarry.Open(filepath.Join(base, "ws"), killOptions(base, nil))
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	conflicts := 0
	for i := range pick(200, 2000) {
		file, line := fmt.Sprintf("f%d.md", i%3), fmt.Sprintf("%s %d", name, i)
		for {
			text, err := ws.Read(ctx, file, nil)
			if err == nil {
				o := &change.Options{ExpectedVersion: text.Version}
				_, err = modifyNote(ws, file, notes.Edit{Operation: notes.Append, Content: line + "\n"}, o)
			}
			if err == nil {
				fmt.Println("ack", line)
				break
			}
			if fault.CodeOf(err) != fault.Conflict {
				t.Fatal(err)
			}
			conflicts++
		}
	}
	fmt.Println("conflicts", conflicts)
}

// Several processes edit the same files, each starting from the content it read, while
// another program appends without coordination. No completed edit is lost: it is in the
// file, or in a conflict copy next to it.
func TestLostUpdate(t *testing.T) {
	base := regime.FastDir(t)
	for _, d := range []string{"ws", "state", "data"} {
		if err := os.Mkdir(filepath.Join(base, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(base, "ws")
	for i := range 3 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.md", i)), []byte("start\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run := regime.Start(t, "lost update: workspaces", 1, 1)
	outs := make(chan string)
	procs := pick(3, 8)
	for i := range procs {
		cmd := child(t, "TestEditorChild", "QUARRY_EDITOR="+base, fmt.Sprintf("QUARRY_NAME=editor%d", i))
		go func() {
			out, err := cmd.Output()
			if err != nil {
				out = append(out, fmt.Sprintf("\nfailed %v", err)...)
			}
			outs <- string(out)
		}()
	}
	stop, careless := make(chan struct{}), make(chan []string, 1)
	go appendCarelessly(dir, stop, careless)
	var want []string
	conflicts := 0
	for range procs {
		for line := range strings.Lines(<-outs) {
			line = strings.TrimSpace(line)
			if ack, ok := strings.CutPrefix(line, "ack "); ok {
				want = append(want, ack)
			} else if n, ok := strings.CutPrefix(line, "conflicts "); ok {
				var k int
				fmt.Sscan(n, &k)
				conflicts += k
			} else if !strings.HasPrefix(line, "PASS") && line != "" {
				t.Error(line) // output of the child's failed test
			}
		}
	}
	close(stop)
	written := <-careless
	have := map[string]bool{}
	files, _ := os.ReadDir(dir)
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			have[strings.TrimRight(line, "\r\n")] = true
		}
	}
	lost := 0
	for _, line := range append(want, written...) {
		if !have[line] {
			lost++
		}
	}
	if lost > 0 || len(want) != procs*pick(200, 2000) {
		t.Errorf("%d of %d lines are lost", lost, len(want)+len(written))
	}
	run.Tried(len(want) + len(written))
	t.Logf("%d acknowledged edits of %d processes with %d conflicts, beside %d careless appends; %d conflict copies",
		len(want), procs, conflicts, len(written), len(files)-3)
}

// appendCarelessly is the other program: it opens, appends and closes. It stops after
// some hundred lines; otherwise slow editors would never find the file unchanged.
func appendCarelessly(dir string, stop <-chan struct{}, done chan<- []string) {
	var written []string
	for i := range pick(400, 20_000) {
		select {
		case <-stop:
			done <- written
			return
		default:
		}
		f, err := os.OpenFile(filepath.Join(dir, fmt.Sprintf("f%d.md", i%3)), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			continue
		}
		line := fmt.Sprintf("careless %d", i)
		_, err = f.WriteString(line + "\n")
		if f.Close() == nil && err == nil {
			written = append(written, line)
		}
		time.Sleep(300 * time.Microsecond) // independent of the editors
	}
	done <- written
}

// On a full disk a change succeeds or reports that it failed.
func TestFullDisk(t *testing.T) {
	regime.SkipShort(t)
	for _, where := range []string{"ws", "state"} {
		t.Run(where, func(t *testing.T) {
			base := t.TempDir()
			for _, d := range []string{"ws", "state", "data"} {
				if err := os.Mkdir(filepath.Join(base, d), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			small := filepath.Join(base, where)
			if err := unix.Mount("tmpfs", small, "tmpfs", 0, "size=1m,mode=0700"); err != nil {
				t.Skipf("a small file system can't be mounted here: %v", err)
			}
			defer unix.Unmount(small, unix.MNT_DETACH)
			fullDisk(t, base, small)
		})
	}
}

func fullDisk(t *testing.T, base, small string) {
	dir := filepath.Join(base, "ws")
	filler := filepath.Join(small, "filler")
	big := strings.Repeat("some text that fills the disk\n", 4000) // 120 KB
	if err := os.WriteFile(filepath.Join(dir, "big.txt"), []byte(big), 0o644); err != nil {
		t.Fatal(err)
	}
	ws, err := quarry.Open(dir, killOptions(base, nil))
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	failed, made := 0, 0
	for free := 0; free < 400<<10; free += 12 << 10 {
		os.Remove(filler)
		now := snapshot(t, dir)
		fill(t, filler, free)
		_, err := ws.Edit(ctx, "big.txt", []change.Edit{change.Edit{Old: "some", New: fmt.Sprint("some", free), Occurrence: change.First}}, nil)
		next := snapshot(t, dir)
		delete(next, "filler")
		if err != nil {
			failed++
			if !errors.Is(err, unix.ENOSPC) {
				t.Errorf("with %d bytes free: %v", free, err)
			}
			if diff := cmp.Diff(now, next); diff != "" {
				t.Fatalf("failed with %v, and yet: %.2000s", err, diff)
			}
			continue
		}
		made++
		if now["big.txt"] == next["big.txt"] {
			t.Fatal("success, and nothing changed")
		}
	}
	if failed == 0 || made == 0 {
		t.Errorf("%d changes failed, %d were made: the test shows nothing", failed, made)
	}
	os.Remove(filler)
	ws.Close()
	if n := undoOneByOne(t, base); n != made {
		t.Errorf("%d changes undone, %d were made", n, made)
	}
	if got := content(t, ws, "big.txt"); got != big {
		t.Error("the file is not what it was")
	}
	for name := range snapshot(t, dir) {
		if strings.Contains(name, "quarry-tmp") {
			t.Errorf("%s is left over", name)
		}
	}
}

// undoOneByOne is undoAll, but reopens the workspace for each undo. Otherwise a replaced
// file keeps its disk space for half a second.
func undoOneByOne(t *testing.T, base string) int {
	t.Helper()
	for n := 0; ; n++ {
		ws, err := quarry.Open(filepath.Join(base, "ws"), killOptions(base, nil))
		if err != nil {
			t.Fatal(err)
		}
		_, err = ws.Undo(ctx, "", nil)
		ws.Close()
		if err != nil {
			if fault.CodeOf(err) != fault.NotFound {
				t.Error(err)
			}
			return n
		}
	}
}

// fill fills the file system except for about free bytes.
func fill(t *testing.T, filler string, free int) {
	t.Helper()
	f, err := os.Create(filler)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	block := make([]byte, 4096)
	for {
		if _, err := f.Write(block); err != nil {
			break
		}
	}
	size, err := f.Seek(0, 2)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(max(size-int64(free), 0)); err != nil {
		t.Fatal(err)
	}
}
