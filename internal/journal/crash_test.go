package journal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"quarry/internal/rootfs"
	"quarry/internal/rootfs/version"
	"quarry/internal/stress"
)

// Environment variables of the test binary when it runs as a child.
const (
	envRole = "QUARRY_JOURNAL_TEST_ROLE"
	envDirs = "QUARRY_JOURNAL_TEST_DIRS"
	envSeed = "QUARRY_JOURNAL_TEST_SEED"
)

func TestMain(m *testing.M) {
	switch os.Getenv(envRole) {
	case "victim":
		victim()
	case "worker":
		worker()
	default:
		stress.InMemory() // neither a kill nor damage made here needs a real disk
		os.Exit(m.Run())
	}
}

// lastSegment returns the last file of the log.
func (b *bench) lastSegment() string {
	b.t.Helper()
	found, err := filepath.Glob(filepath.Join(b.state, "*.seg"))
	if err != nil || len(found) == 0 {
		b.t.Fatal("no segment: ", err)
	}
	return found[len(found)-1]
}

// with opens a copy of the journal whose last segment has data as its contents.
func (b *bench) with(data []byte) *bench {
	b.t.Helper()
	state := b.t.TempDir()
	b.must(os.WriteFile(filepath.Join(state, filepath.Base(b.lastSegment())), data, 0o600))
	c := &bench{t: b.t, dir: b.dir, state: state}
	c.open(nil)
	return c
}

// Wherever a crash cuts off the last append, earlier entries are complete, the last one
// is complete or absent, and the journal can still be used.
func TestTornAtEveryByte(t *testing.T) {
	b := newBench(t, nil)
	b.put("a", "0\n")
	first := b.change("first", b.replace("a", "1\n"))
	b.change("second", b.replace("a", strings.Repeat("2\n", 300)))
	whole, err := os.ReadFile(b.lastSegment())
	b.must(err)
	start := len(whole)
	third := b.change("third", b.replace("a", "3\n"))
	whole, err = os.ReadFile(b.lastSegment())
	b.must(err)
	for _, rest := range []struct {
		name string
		fill func([]byte)
	}{
		{"cut", nil},
		{"zeros", func(p []byte) { clear(p) }},
		{"garbage", func(p []byte) {
			for i := range p {
				p[i] = byte(i*7 + 1)
			}
		}},
	} {
		states := map[string]int{}
		for cut := start; cut <= len(whole); cut++ {
			data := append([]byte(nil), whole[:cut]...)
			if rest.fill != nil {
				data = append([]byte(nil), whole...)
				rest.fill(data[cut:])
			}
			c := b.with(data)
			list, err := c.j.List(0)
			c.must(err)
			state := "absent"
			if len(list) == 3 && list[0].ID == third {
				state = list[0].Status.String()
				list = list[1:]
				e, err := c.j.Get(third)
				c.must(err)
				if old, err := c.j.Before(e, 0); err != nil || len(old) != 600 {
					t.Fatalf("%s at %d: old content of the last entry: %d bytes, %v", rest.name, cut, len(old), err)
				}
			}
			states[state]++
			if len(list) != 2 || list[1].ID != first || list[1].Status != Committed || list[0].Status != Committed {
				t.Fatalf("%s at %d: %v", rest.name, cut, list)
			}
			if cut%16 == 0 {
				tx := c.begin("after the crash", c.replace("a", "x"))
				c.must(tx.Abort())
				n, err := c.j.List(0)
				c.must(err)
				if len(n) < 2 {
					t.Fatalf("%s at %d: after going on: %v", rest.name, cut, n)
				}
			}
			c.j.Close()
			c.st.Close()
			c.ws.Close()
			os.RemoveAll(c.state)
		}
		t.Logf("%s: %d positions: %v", rest.name, len(whole)-start+1, states)
		if states["absent"] == 0 || states["pending"] == 0 || states["committed"] == 0 {
			t.Errorf("%s: not all states were met: %v", rest.name, states)
		}
	}
}

// step makes one random change. It depends only on the seed, so the parent can repeat it.
func step(b *bench, r *rand.Rand, told func()) {
	files := listFiles(b.dir)
	f := files[r.IntN(len(files))]
	var ops []Op
	switch r.IntN(6) {
	case 0, 1, 2:
		ops = []Op{b.replace(f, randomText(r)+strconv.Itoa(r.Int()))}
		if r.IntN(8) == 0 {
			ops = []Op{b.replace(f, strings.Repeat("large\n", 200_000)+strconv.Itoa(r.Int()))}
		}
	case 3:
		dir := fmt.Sprint("new", r.Uint64())
		ops = []Op{b.mkdir(dir), b.create(dir+"/a", randomText(r)), b.create(dir+"/b", randomText(r))}
	case 4:
		to := fmt.Sprint("mv", r.Uint64())
		ops = []Op{b.rename(f, to)}
		data, v, _, err := b.ws.ReadFile(b.path(f), 0)
		b.must(err)
		ops = append(ops, Op{Kind: Replace, Path: b.path(to), Old: v, OldData: data, NewData: append(data, "moved"...)})
	case 5:
		if len(files) < 4 { // keep some files for later changes
			return
		}
		ops = []Op{b.remove(f)}
		if dir := filepath.Dir(f); dir != "." {
			ops = []Op{b.remove(dir)}
		}
	}
	told()
	tx := b.begin("step", ops...)
	for _, op := range ops {
		told()
		b.must(do(b.ws, op))
	}
	told()
	b.must(tx.Commit())
}

func listFiles(dir string) []string {
	var files []string
	filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && !rootfs.IsTemp(d.Name()) {
			rel, _ := filepath.Rel(dir, p)
			files = append(files, rel)
		}
		return nil
	})
	return files
}

// fatal replaces testing.TB in a child process.
type fatal struct{ testing.TB }

func (fatal) Helper()        {}
func (fatal) Cleanup(func()) {}
func (fatal) Fatal(args ...any) {
	fmt.Fprintln(os.Stderr, args...)
	os.Exit(3)
}

func childBench() (*bench, *rand.Rand) {
	dirs := strings.Split(os.Getenv(envDirs), string(filepath.ListSeparator))
	seed, _ := strconv.ParseUint(os.Getenv(envSeed), 10, 64)
	b := &bench{t: fatal{}, dir: dirs[0], state: dirs[1]}
	b.open(nil)
	return b, rand.New(rand.NewPCG(seed, 1))
}

// victim changes files until it is killed, and writes a byte after each step.
func victim() {
	b, r := childBench()
	for {
		step(b, r, func() { os.Stdout.Write([]byte{'.'}) })
	}
}

func child(t *testing.T, b *bench, role string, seed int) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), envRole+"="+role, envSeed+"="+strconv.Itoa(seed),
		envDirs+"="+b.dir+string(filepath.ListSeparator)+b.state)
	cmd.Stderr = os.Stderr
	return cmd
}

// recoverAll completes changes or rolls them back, as opening a Workspace does.
func recoverAll(b *bench, r *rand.Rand, counts map[string]int) {
	b.t.Helper()
	if _, err := b.ws.CleanTemps(context.Background(), rootfs.Path{}); err != nil {
		b.t.Fatal(err)
	}
	list, err := b.j.Unfinished(b.ws)
	b.must(err)
	if len(list) > 1 {
		b.t.Fatalf("%d unfinished changes after one crash", len(list))
	}
	for _, u := range list {
		switch {
		case u.Done < 0:
			b.t.Fatalf("change %s can't be placed: %v, ops %v", u.ID, u.Paths, u.Ops)
		case u.Done == len(u.Ops):
			counts["complete"]++
			b.must(b.j.Settle(u.ID, u.Done))
		case u.Done == 0 && !u.Begun:
			counts["not begun"]++
			b.must(b.j.Settle(u.ID, 0))
		case u.Begun || r.IntN(2) == 0:
			counts["rolled back"]++
			p, err := b.j.Rollback(context.Background(), b.ws, u)
			b.must(err)
			conflicts, err := p.Check(b.ws)
			b.must(err)
			if len(conflicts) > 0 {
				b.t.Fatalf("rollback of %s: %v", u.ID, conflicts)
			}
			b.must(p.TakeBack(context.Background(), b.ws, nil))
			b.must(p.Close())
			b.must(b.j.Settle(u.ID, 0))
		default:
			counts["left as it was"]++
			b.must(b.j.Settle(u.ID, u.Done))
		}
	}
}

// Killing a process at any moment leaves a journal from which everything can be rolled
// back.
func TestKilledAtAnyMoment(t *testing.T) {
	stress.SkipTiny(t)
	const kills = 10 // per journal
	run := stress.Start(t, "kill -9 of a journal", 20, 1000)
	for seed := range run.Cases() {
		killAndUndo(t, seed, kills)
		run.Tried(kills)
	}
}

func killAndUndo(t *testing.T, seed uint64, kills int) {
	b := newBench(t, &Options{MaxBytes: 1 << 30})
	if b.ws.FSKind() == rootfs.FSUnknown {
		t.Skip("here rootfs clears away the temporary files of dead processes only after an hour")
	}
	r := stress.Rand(seed)
	for i := range 6 {
		b.put(fmt.Sprint("f", i), randomText(r))
	}
	b.put("d/x", "x")
	b.put("d/y", "y")
	before := tree(t, b.dir, false)
	counts := map[string]int{}
	for range kills {
		cmd := child(t, b, "victim", r.Int())
		out, err := cmd.StdoutPipe()
		b.must(err)
		b.must(cmd.Start())
		if _, err := io.CopyN(io.Discard, bufio.NewReaderSize(out, 16), int64(1+r.IntN(12))); err != nil {
			t.Fatal("the child failed: ", err)
		}
		for range r.IntN(30) { // a random moment within the step
			os.Stat(b.dir)
		}
		cmd.Process.Kill()
		cmd.Wait()
		recoverAll(b, r, counts)
	}
	list, err := b.j.List(0)
	b.must(err)
	for _, e := range list {
		if e.Status != Committed {
			t.Fatalf("seed %d: entry %s is %v", seed, e.ID, e.Status)
		}
		if _, err := b.undo(e.ID); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	if got := tree(t, b.dir, false); got != before {
		t.Errorf("seed %d: after undoing all:\n%s\nwant:\n%s", seed, got, before)
	}
	left, _ := filepath.Glob(filepath.Join(b.state, "packs", "tmp-*"))
	owners, _ := filepath.Glob(filepath.Join(b.state, "owners", "*"))
	t.Logf("seed %d: %d changes undone, recovered: %v; %d packs and %d owners left over", seed, len(list), counts, len(left), len(owners))
	if len(left) > 1 || len(owners) > 2 {
		t.Errorf("seed %d: left over: %v %v", seed, left, owners)
	}
}

// worker makes 50 changes to its own file.
func worker() {
	b, _ := childBench()
	name := "w" + os.Getenv(envSeed)
	for i := range 50 {
		b.change(fmt.Sprint(name, " ", i), b.replace(name, strings.Repeat(name, i+1)))
	}
	b.must(b.j.Close())
}

func TestSeveralProcesses(t *testing.T) {
	stress.SkipTiny(t)
	b := newBench(t, &Options{MaxBytes: 1 << 20}) // several segments
	const workers = 4
	var cmds []*exec.Cmd
	for i := range workers {
		b.put(fmt.Sprint("w", i), "")
	}
	before := tree(t, b.dir, false)
	for i := range workers {
		cmd := child(t, b, "worker", i)
		b.must(cmd.Start())
		cmds = append(cmds, cmd)
	}
	for _, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	list, err := b.j.List(0)
	b.must(err)
	if len(list) != workers*50 {
		t.Fatalf("%d entries, want %d", len(list), workers*50)
	}
	seen := map[ID]bool{}
	for i, e := range list {
		if seen[e.ID] || i > 0 && e.ID >= list[i-1].ID {
			t.Fatalf("id %s is not unique or not in order", e.ID)
		}
		seen[e.ID] = true
		if _, err := b.undo(e.ID); err != nil {
			t.Fatal(err)
		}
	}
	if got := tree(t, b.dir, false); got != before {
		t.Errorf("after undoing all:\n%s\nwant:\n%s", got, before)
	}
	if u, err := b.j.Unfinished(b.ws); err != nil || len(u) > 0 {
		t.Errorf("unfinished: %v, %v", u, err)
	}
	if owners, _ := filepath.Glob(filepath.Join(b.state, "owners", "*")); len(owners) > 1 {
		t.Errorf("owners left: %v", owners)
	}
}

// Concurrent changes of one process share syncs but not entries.
func TestConcurrentChanges(t *testing.T) {
	stress.SkipTiny(t)
	b := newBench(t, &Options{MaxBytes: 2 << 20})
	const workers, each = 8, 25
	for i := range workers {
		b.put(fmt.Sprint("f", i), "")
	}
	before := tree(t, b.dir, false)
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for i := range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			p := b.path(fmt.Sprint("f", i))
			old := []byte{}
			for n := range each {
				op := Op{Kind: Replace, Path: p, OldData: old, NewData: []byte(strings.Repeat(fmt.Sprint(i, n), n+1))}
				op.Old = version.Of(old)
				tx, err := b.j.Begin(context.Background(), b.ws, Change{Ops: []Op{op}})
				if err == nil {
					err = errors.Join(do(b.ws, op), tx.Commit())
				}
				if err != nil {
					errs[i] = err
					return
				}
				old = op.NewData
			}
		}()
	}
	wg.Wait()
	b.must(errors.Join(errs...))
	list, err := b.j.List(0)
	b.must(err)
	if len(list) != workers*each {
		t.Fatalf("%d entries", len(list))
	}
	for _, e := range list {
		if _, err := b.undo(e.ID); err != nil {
			t.Fatal(err)
		}
	}
	if got := tree(t, b.dir, false); got != before {
		t.Errorf("after undoing all:\n%s\nwant:\n%s", got, before)
	}
}

const envFull = "QUARRY_JOURNAL_TEST_FULL"

// TestFullDisk runs TestOnFullDisk in a mounted file system of 400 KB.
func TestFullDisk(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	top := t.TempDir()
	var out []byte
	for _, how := range []string{"-m", "-rm"} {
		const mount = `mount -t tmpfs -o size=400k tmpfs "$0"`
		if out, err = exec.Command("unshare", how, "sh", "-c", mount, top).CombinedOutput(); err != nil {
			continue
		}
		cmd := exec.Command("unshare", how, "sh", "-c", mount+` && exec "$@"`, top, exe, "-test.run=^TestOnFullDisk$", "-test.v")
		cmd.Env = append(os.Environ(), envFull+"="+top)
		out, err = cmd.CombinedOutput()
		t.Logf("%s", out)
		if err != nil {
			t.Errorf("on a full disk: %v", err)
		}
		return
	}
	t.Skipf("no file system can be mounted here: %v %s", err, out)
}

// On a full disk the journal refuses changes and keeps its contents. Once there is space
// again, it accepts changes.
func TestOnFullDisk(t *testing.T) {
	top := os.Getenv(envFull)
	if top == "" {
		t.Skip("runs as a part of TestFullDisk")
	}
	b := &bench{t: t, dir: t.TempDir(), state: top}
	b.open(nil)
	r := rand.New(rand.NewPCG(7, 8))
	b.put("a", noise(r, 9000))
	ballast := filepath.Join(top, "ballast")
	done, refused := 0, 0
	for round := range 60 {
		os.WriteFile(ballast, make([]byte, r.IntN(120<<10)), 0o600) // may be cut short by the full disk
		op := b.replace("a", noise(r, 9000))
		tx, err := b.j.Begin(context.Background(), b.ws, Change{Ops: []Op{op}})
		if err != nil {
			refused++
		} else {
			b.must(do(b.ws, op))
			if err := tx.Commit(); err != nil {
				b.must(os.Remove(ballast))
				b.must(tx.Commit())
			}
			done++
		}
		os.Remove(ballast)
		list, err := b.j.List(0)
		b.must(err)
		if len(list) != done {
			t.Fatalf("round %d: %d entries, want %d", round, len(list), done)
		}
	}
	list, err := b.j.List(0)
	b.must(err)
	for _, e := range list {
		p, err := b.j.Plan(context.Background(), e.ID)
		b.must(err)
		b.must(p.Close())
	}
	if n, err := b.j.Damage(); n != 0 || err != nil {
		t.Errorf("damage %d, %v", n, err)
	}
	t.Logf("%d changes, %d refused", done, refused)
	if done == 0 || refused == 0 {
		t.Error("the disk was never full, or always")
	}
}

// No process, including the one making it, treats a change in progress as unfinished.
func TestUnfinishedSparesTheLiving(t *testing.T) {
	b := newBench(t, nil)
	b.put("a", "1")
	tx := b.begin("slow", b.replace("a", "2"))
	other := &bench{t: t, dir: b.dir, state: b.state}
	other.open(nil)
	for _, j := range []*Journal{b.j, other.j} {
		if u, err := j.Unfinished(b.ws); err != nil || len(u) > 0 {
			t.Errorf("unfinished: %v, %v", u, err)
		}
	}
	b.must(b.j.Close()) // like a crash: the change was not ended
	u, err := other.j.Unfinished(b.ws)
	if err != nil || len(u) != 1 || u[0].ID != tx.ID() || u[0].Done != 0 {
		t.Errorf("unfinished after close: %v, %v", u, err)
	}
}

func TestStatesOfAnUnfinishedChange(t *testing.T) {
	ops := func(b *bench) []Op {
		return []Op{b.replace("a", "A2"), b.rename("d", "e"),
			{Kind: Replace, Path: b.path("e/x"), OldData: []byte("x1"), NewData: []byte("x2")}, b.remove("t"), b.create("n", "new")}
	}
	for _, c := range []struct {
		name   string
		done   int
		more   func(b *bench)
		want   int
		partly bool
		states string
	}{
		{"nothing", 0, nil, 0, false, "a:old d:old e:old e/x:old t:old n:old"},
		{"one", 1, nil, 1, false, "a:new d:old e:old e/x:old t:old n:old"},
		{"renamed", 2, nil, 2, false, "a:new d:new e:new e/x:between t:old n:old"},
		{"edited", 3, nil, 3, false, "a:new d:new e:new e/x:new t:old n:old"},
		{"half of a tree", 3, func(b *bench) { os.Remove(filepath.Join(b.dir, "t/2")) }, 3, true, ""},
		{"all", 5, nil, 5, false, "a:new d:new e:new e/x:new t:new n:new"},
		{"someone else", 1, func(b *bench) { b.put("a", "other") }, -1, false, "a:foreign d:old e:old e/x:old t:old n:old"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, nil)
			b.put("a", "A1")
			b.put("d/x", "x1")
			b.put("t/1", "1")
			b.put("t/2", "2")
			before := tree(t, b.dir, false)
			all := ops(b)
			b.begin("cut short", all...)
			for _, op := range all[:c.done] {
				b.must(do(b.ws, op))
			}
			if c.more != nil {
				c.more(b)
			}
			b.must(b.j.Close())
			b.open(nil)
			list, err := b.j.Unfinished(b.ws)
			if err != nil || len(list) != 1 {
				t.Fatalf("unfinished: %v, %v", list, err)
			}
			u := list[0]
			var got []string
			for _, s := range u.Paths {
				got = append(got, fmt.Sprintf("%v:%v", s.Path, s.State))
			}
			if states := strings.Join(got, " "); u.Done != c.want || u.Begun != c.partly || c.states != "" && states != c.states {
				t.Errorf("done %d partly %v %s\nwant %d %v %s", u.Done, u.Begun, states, c.want, c.partly, c.states)
			}
			p, err := b.j.Rollback(context.Background(), b.ws, u)
			if c.want < 0 {
				if err == nil {
					t.Error("a change that can't be placed was planned back")
				}
				return
			}
			b.must(err)
			defer p.Close()
			b.must(p.TakeBack(context.Background(), b.ws, nil))
			b.must(b.j.Settle(u.ID, 0))
			if now := tree(t, b.dir, false); now != before {
				t.Errorf("rolled back:\n%s\nwant:\n%s", now, before)
			}
		})
	}
}
