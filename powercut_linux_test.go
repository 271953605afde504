package quarry

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"quarry/change"
	"quarry/internal/backend"
	"quarry/internal/journal"
	"quarry/internal/powercut"
	"quarry/internal/rootfs"
	regime "quarry/internal/stress"
)

// A trial is a small vault in memory, with folders for its undo log and the desktop's trash.
type trial struct{ base string }

func (tr trial) dir() string { return filepath.Join(tr.base, "ws") }

func (tr trial) options(layer *rootfs.Layer) *Options {
	return &Options{StateDir: filepath.Join(tr.base, "state"), TrashDir: filepath.Join(tr.base, "data"), Trash: change.TrashLocal, layer: layer}
}

// trialFiles is the initial tree, with linked notes, files with two names, and files to delete.
var trialFiles = map[string]string{
	".obsidian/app.json": `{"alwaysUpdateLinks": true}`,
	"note.md":            "# note\nsee [[other]]\n",
	"other.md":           "back to [[note]] and [[note#note]]\n",
	"twin.md":            "a file with two names\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n",
	"trash/1.txt":        "one\n",
	"trash/2.txt":        "two\n",
	"trash/3.txt":        "three\n",
	"gone/1/a.txt":       "a\n",
	"gone/1/in/b.txt":    "b\n",
	"gone/2/a.txt":       "a\n",
	"gone/3/a.txt":       "a\n",
	"set/text.txt":       "text\n",
	"set/moved1.txt":     "moved 1\n",
	"set/moved2.txt":     "moved 2\n",
	"set/moved3.txt":     "moved 3\n",
	"set/trashed1.txt":   "trashed 1\n",
	"set/trashed2.txt":   "trashed 2\n",
	"set/trashed3.txt":   "trashed 3\n",
	"set/gone1.txt":      "gone 1\n",
	"set/gone2.txt":      "gone 2\n",
	"set/gone3.txt":      "gone 3\n",
}

func newTrial(t testing.TB) trial {
	base, err := os.MkdirTemp("/dev/shm", "quarry-trial-")
	if err != nil {
		base = t.TempDir()
	}
	tr := trial{base: base}
	for _, dir := range []string{"ws", "state", "data"} {
		check(t, os.Mkdir(filepath.Join(base, dir), 0o755))
	}
	for name, text := range trialFiles {
		full := filepath.Join(tr.dir(), name)
		check(t, os.MkdirAll(filepath.Dir(full), 0o755))
		check(t, os.WriteFile(full, []byte(text), 0o644))
	}
	check(t, os.Link(filepath.Join(tr.dir(), "twin.md"), filepath.Join(tr.dir(), "twin2.md")))
	return tr
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// act is one kind of change; n makes the first, second and third use of it in a sequence differ.
type act struct {
	name string
	do   func(w *Workspace, n int) (*change.Change, error)
}

func acts() []act {
	bg := context.Background()
	return []act{
		{"edit", func(w *Workspace, n int) (*change.Change, error) {
			return w.Edit(bg, w.noteName(), []change.Edit{change.Edit{Verb: change.InsertAfter, First: 1, New: fmt.Sprint("line ", n)}}, nil)
		}},
		{"write", func(w *Workspace, n int) (*change.Change, error) {
			return w.Write(bg, w.noteName(), fmt.Appendf(nil, "written %d [[other]]\n", n), nil)
		}},
		{"create in new folders", func(w *Workspace, n int) (*change.Change, error) {
			return w.Write(bg, fmt.Sprintf("new %d/deep/file.md", n), []byte("new\n"), nil)
		}},
		{"move a note with its links", func(w *Workspace, n int) (*change.Change, error) {
			return w.Move(bg, w.noteName(), fmt.Sprintf("moved %d/n%d.md", n, n), nil)
		}},
		{"delete to a trash", func(w *Workspace, n int) (*change.Change, error) {
			kind := []change.TrashKind{change.TrashLocal, change.TrashSystem, change.TrashLocal}[n%3]
			return w.Delete(bg, fmt.Sprintf("trash/%d.txt", n%3+1), &change.DeleteOptions{Trash: kind})
		}},
		{"delete for good", func(w *Workspace, n int) (*change.Change, error) {
			return w.Delete(bg, fmt.Sprintf("gone/%d", n%3+1), &change.DeleteOptions{Trash: change.TrashNone})
		}},
		{"edit a file with two names", func(w *Workspace, n int) (*change.Change, error) {
			return w.Edit(bg, "twin.md", []change.Edit{change.Edit{Verb: change.InsertAfter, First: 4 + 3*(n%3), New: fmt.Sprint("line ", n)}}, nil)
		}},
		{"a set of changes", func(w *Workspace, n int) (*change.Change, error) {
			in := func(name string) string { return fmt.Sprintf("set/%s%d.txt", name, n%3+1) }
			return w.Apply(bg, change.Set{Ops: []change.Op{
				{Verb: change.EditFile, Path: "twin.md", Edits: []change.Edit{{Verb: change.InsertAfter, First: 1, New: fmt.Sprint("set ", n)}}, Executable: new(n%2 == 0)},
				{Verb: change.EditFile, Path: "other.md", Executable: new(n%2 == 0)},
				{Verb: change.WriteFile, Path: "set/text.txt", Content: fmt.Appendf(nil, "set %d\n", n)},
				{Verb: change.CreateFile, Path: fmt.Sprintf("set %d/deep/new.md", n), Content: []byte("new\n")},
				{Verb: change.MovePath, Path: in("moved"), To: fmt.Sprintf("set %d/moved.txt", n)},
				{Verb: change.DeletePath, Path: in("trashed"), Trash: change.TrashLocal},
				{Verb: change.DeletePath, Path: in("gone"), Trash: change.TrashNone},
			}})
		}},
		{"undo of the first, beneath the others", func(w *Workspace, n int) (*change.Change, error) {
			log, err := w.Changes(bg, 0)
			if err != nil {
				return nil, err
			}
			for _, c := range slices.Backward(log.Changes) {
				if c.UndoneBy == "" && c.Undoes == "" {
					return w.Undo(bg, c.ID, nil)
				}
			}
			return nil, journal.ErrNotFound
		}},
		{"undo", func(w *Workspace, n int) (*change.Change, error) { return w.Undo(bg, "", nil) }},
	}
}

// noteName returns the current path of a note that may have been moved.
func (w *Workspace) noteName() string {
	for _, name := range []string{"note.md", "moved 0/n0.md", "moved 1/n1.md", "moved 2/n2.md"} {
		if p, err := w.b.(*backend.Folder).Root.Known(name); err == nil {
			if _, err := w.b.(*backend.Folder).Root.Stat(p); err == nil {
				return name
			}
		}
	}
	return "note.md"
}

// shape describes a tree without trashes: names, types, contents and modes.
func shape(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	check(t, filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, p)
		if err == nil && rel == ".trash" {
			err = fs.SkipDir
		}
		if err != nil || rootfs.IsTemp(d.Name()) { // temporary files are checked by noTemps
			return err
		}
		fmt.Fprintf(&b, "%s %v", rel, d.Type())
		if d.Type().IsRegular() {
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %v %q", info.Mode(), data)
		}
		b.WriteByte('\n')
		return nil
	}))
	return b.String()
}

// recording is a sequence of changes with the recorded disk.
type recording struct {
	base   string
	disk   *powercut.Disk
	names  []string
	marks  []int    // moments when each change was acknowledged; the first is the start
	shapes []string // the tree at each of these moments
	ids    []string // id of each change; "" if it was refused
}

func record(t testing.TB, seq []act) *recording {
	tr := newTrial(t)
	defer os.RemoveAll(tr.base)
	disk, err := powercut.New(tr.dir(), filepath.Join(tr.base, "state"), filepath.Join(tr.base, "data"))
	check(t, err)
	w, err := Open(tr.dir(), tr.options(disk.Layer()))
	check(t, err)
	r := &recording{base: tr.base, disk: disk, marks: []int{0}, shapes: []string{shape(t, tr.dir())}, ids: []string{""}}
	for n, a := range seq {
		c, err := a.do(w, n)
		id := ""
		if err == nil {
			id = c.ID
		}
		r.names = append(r.names, a.name)
		r.ids, r.marks, r.shapes = append(r.ids, id), append(r.marks, disk.Now()), append(r.shapes, shape(t, tr.dir()))
	}
	check(t, w.Close())
	check(t, disk.Err())
	return r
}

// powerOn writes a disk state out, opens the workspace as the next process would, and returns any
// problem. done is the number of changes acknowledged before the power cut.
func (r *recording) powerOn(t testing.TB, s *powercut.State, done int, undo bool) error {
	// Use the same path, because records in the desktop's trash have absolute paths.
	base := r.base
	check(t, os.Mkdir(base, 0o755))
	defer os.RemoveAll(base)
	check(t, s.WriteTo(base))
	tr := trial{base: base}
	w, err := Open(tr.dir(), tr.options(&rootfs.Layer{Ino: s.Ino}))
	if err != nil {
		return fmt.Errorf("does not open: %w", err)
	}
	defer w.Close()
	now := shape(t, tr.dir())
	if now != r.shapes[done] && (done+1 == len(r.shapes) || now != r.shapes[done+1]) {
		return fmt.Errorf("the tree is neither old nor new:\n%s\nold:\n%s\nnew:\n%s", now, r.shapes[done], r.shapes[min(done+1, len(r.shapes)-1)])
	}
	log, err := w.Changes(context.Background(), 0)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	// log.Damaged may count incomplete records, because the sectors of a record can be written in
	// any order. But no needed record may be damaged.
	known := map[string]bool{}
	for _, c := range log.Changes {
		known[c.ID] = true
		if c.Pending || c.NoUndo != "" {
			return fmt.Errorf("change %s is pending or damaged: %+v", c.ID, c)
		}
	}
	for i, id := range r.ids[:done+1] {
		if id != "" && !known[id] {
			return fmt.Errorf("change %d was acknowledged and is gone", i)
		}
	}
	if err := noTemps(base); err != nil {
		return err
	}
	if !undo {
		return nil
	}
	for {
		_, err := w.Undo(context.Background(), "", nil)
		if errors.Is(err, journal.ErrNotFound) {
			break
		}
		if err != nil {
			return fmt.Errorf("undo: %w", err)
		}
	}
	if now := shape(t, tr.dir()); now != r.shapes[0] {
		return fmt.Errorf("undone:\n%s\nat first:\n%s", now, r.shapes[0])
	}
	return noTemps(base)
}

// noTemps returns an error if there are temporary files.
func noTemps(base string) error {
	return filepath.WalkDir(base, func(p string, d fs.DirEntry, err error) error {
		if err == nil && rootfs.IsTemp(d.Name()) {
			return fmt.Errorf("left over: %s", strings.TrimPrefix(p, base))
		}
		return err
	})
}

// cutter checks disk states, each only once.
type cutter struct {
	t      testing.TB
	states atomic.Int64
	mu     sync.Mutex
	failed bool
}

// at checks the disk after a power cut before event number at. It returns false if a check failed.
func (c *cutter) at(r *recording, at int, fate powercut.Fate, seen map[[32]byte]bool) bool {
	s := r.disk.Cut(at, fate)
	sum := s.Sum()
	done := 0
	for done+1 < len(r.marks) && r.marks[done+1] <= at {
		done++
	}
	sum[0] ^= byte(done)
	if seen[sum] {
		return true
	}
	seen[sum] = true
	n := c.states.Add(1)
	err := r.powerOn(c.t, s, done, n%4 == 0)
	if err == nil {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.failed {
		c.failed = true
		c.t.Errorf("%s, power cut before event %d (%v), %d acknowledged: %v\nevents:\n%s\nthe disk:\n%s",
			strings.Join(r.names, "; "), at, fate, done, err, r.disk.Story(r.marks[max(0, done-1)], at), s)
	}
	return false
}

// parallel calls f with 0 to n-1 on all processors, until a call returns false.
func parallel(n int, f func(i int) bool) {
	var next atomic.Int64
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for {
				i := int(next.Add(1) - 1)
				if i >= n || !f(i) {
					next.Store(int64(n))
					return
				}
			}
		})
	}
	wait.Wait()
}

// Power fails at every moment of every sequence of up to three changes. Afterwards all acknowledged
// changes are there, the current change is there completely or not at all, everything can be
// undone, and nothing else is left.
func TestPowerCut(t *testing.T) {
	regime.SkipShort(t)
	run := regime.Start(t, "power loss: every sequence of three", 1, 1)
	all, fates := acts(), powercut.Fates()
	var seqs [][]act
	for _, a := range all {
		seqs = append(seqs, []act{a})
		for _, b := range all {
			seqs = append(seqs, []act{a, b})
			for _, c := range all {
				seqs = append(seqs, []act{a, b, c})
			}
		}
	}
	c := &cutter{t: t}
	parallel(len(seqs), func(i int) bool {
		if !regime.Takes(i) && len(seqs[i]) > 1 {
			return true
		}
		r := record(t, seqs[i])
		if r.ids[len(seqs[i])] == "" {
			return true // refused, for example an undo without a change to undo
		}
		seen := map[[32]byte]bool{}
		for at := r.marks[len(seqs[i])-1] + 1; at <= r.disk.Now(); at++ {
			// For a single change, try every fate at every moment. For longer sequences, try the
			// first fate and one of the others in turn.
			for k, fate := range fates {
				if len(seqs[i]) == 1 || k == 0 || (at+i)%len(fates) == k {
					if !c.at(r, at, fate, seen) {
						return false
					}
				}
			}
		}
		return !t.Failed()
	})
	run.Tried(int(c.states.Load()))
	t.Logf("%d sequences, %d disks", len(seqs), c.states.Load())
}

// TestPowerCutRandom tries random sequences and random fates.
func TestPowerCutRandom(t *testing.T) {
	run := regime.Start(t, "power loss: random sequences", 30, 5_000) // about 40 disks each
	c := &cutter{t: t}
	one := func(seed uint64) bool {
		rng := regime.Rand(seed)
		var seq []act
		for range 1 + rng.IntN(6) {
			seq = append(seq, acts()[rng.IntN(len(acts()))])
		}
		r := record(t, seq)
		seen := map[[32]byte]bool{}
		for range 40 {
			if !c.at(r, rng.IntN(r.disk.Now()+1), powercut.Random(rng), seen) {
				return false
			}
		}
		return !t.Failed()
	}
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for seed := range run.Cases() {
				if !one(seed) {
					return
				}
			}
		})
	}
	wait.Wait()
	run.Tried(int(c.states.Load()))
}
