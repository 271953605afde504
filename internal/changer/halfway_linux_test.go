package changer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"quarry/change"
	"quarry/internal/rootfs"
	regime "quarry/internal/stress"
)

// lasting makes system calls fail, from the n-th call on until it is turned off, as if
// the file system had become read-only, the quota were exhausted or the disk were dying.
type lasting struct {
	mu   sync.Mutex
	on   bool
	call string // counts and fails only calls of this name; "" means all
	from int
	err  error
	seen map[string]int
}

func (l *lasting) before(call string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.on {
		return nil
	}
	if l.seen == nil {
		l.seen = map[string]int{}
	}
	l.seen[call]++
	l.seen[""]++
	if l.err != nil && (l.call == "" || l.call == call) && l.seen[l.call] > l.from {
		return l.err
	}
	return nil
}

func (l *lasting) turn(on bool) { l.mu.Lock(); l.on = on; l.mu.Unlock() }

// lastingErrors are system errors that may persist however often a call is repeated.
var lastingErrors = []error{
	unix.EIO, unix.EROFS, unix.ENOSPC, unix.EDQUOT, unix.EACCES, unix.EPERM,
	unix.EMFILE, unix.ENFILE, unix.ENOMEM, unix.EBUSY, unix.ETXTBSY, unix.ESTALE,
}

// mixedSet returns a set of n operations of all kinds, and the files that it needs.
func mixedSet(n int) (files map[string]string, set change.Set) {
	files = map[string]string{}
	for i := range n {
		name := fmt.Sprintf("f%02d.txt", i)
		op := change.Op{Path: name}
		switch i % 5 {
		case 1:
			op.Verb, op.Path, op.Content = change.CreateFile, fmt.Sprintf("new%d/f.txt", i), []byte("made\n")
		case 2:
			op.Verb, op.To = change.MovePath, fmt.Sprintf("moved%d.txt", i)
		case 3:
			op.Verb = change.DeletePath
		case 4:
			op.Verb, op.Content = change.WriteFile, []byte("written\n")
		default:
			op.Verb, op.Edits = change.EditFile, []change.Edit{{Old: "old", New: "edited"}}
		}
		if op.Verb != change.CreateFile {
			files[name] = "the old text\n"
		}
		set.Ops = append(set.Ops, op)
	}
	return files, set
}

// halfway applies one set while calls fail.
type halfway struct {
	t          *testing.T
	base       string
	dir, state string
	layer      *lasting
	stateToo   bool // calls on the state folder fail too
	set        change.Set
	opens      int
	command    bool // repair by undo, not by reopening
}

func newHalfway(t *testing.T, n int, stateToo bool, l *lasting) *halfway {
	base, err := os.MkdirTemp("/dev/shm", "halfway-")
	if err != nil {
		base, err = os.MkdirTemp("", "halfway-")
	}
	if err != nil {
		t.Fatal(err)
	}
	h := &halfway{t: t, base: base, dir: base + "/w", state: base + "/s", layer: l, stateToo: stateToo}
	files, set := mixedSet(n)
	h.set = set
	for _, dir := range []string{h.dir, h.state} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(h.dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

func (h *halfway) open() (*Changer, func()) {
	// Temporary files of a live process are not removed, and here all opens are in one
	// process. So each open pretends another boot of the machine.
	h.opens++
	root, err := rootfs.Open(h.dir, &rootfs.Options{Layer: &rootfs.Layer{Before: h.layer.before, Boot: fmt.Sprintf("0bad%04x", h.opens)}})
	if err != nil {
		h.t.Fatal(err)
	}
	layer := &rootfs.Layer{}
	if h.stateToo {
		layer.Before = h.layer.before
	}
	w, err := Open(root, &Options{StateDir: h.state, Trash: change.TrashLocal, Logger: slog.New(slog.DiscardHandler), Layer: layer})
	if err != nil {
		h.t.Fatal(err)
	}
	return w, func() { w.Close(); root.Close() }
}

// files returns the names and contents of the workspace's files, except the trash and
// temporary files.
func (h *halfway) files() map[string]string {
	found := map[string]string{}
	err := filepath.WalkDir(h.dir, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(h.dir, path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && rel == ".trash":
			return fs.SkipDir
		case rel == "." || rootfs.IsTemp(d.Name()) || strings.Contains(rel, ".conflict-"):
			return nil
		case d.IsDir():
			found[rel] = "folder"
			return nil
		}
		data, err := os.ReadFile(path)
		found[rel] = string(data)
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return found
}

func same(a, b map[string]string) bool {
	return len(a) == len(b) && !slices.ContainsFunc(keys(a), func(k string) bool { v, ok := b[k]; return !ok || v != a[k] })
}

func keys(m map[string]string) []string {
	var list []string
	for k := range m {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}

// truth returns the paths that are as after the set, as before it, or neither.
func truth(before, after, now map[string]string) (new, old, other []string) {
	all := keys(before)
	for _, k := range keys(after) {
		if !slices.Contains(all, k) {
			all = append(all, k)
		}
	}
	slices.Sort(all)
	at := func(m map[string]string, k string) string {
		if v, ok := m[k]; ok {
			return "=" + v
		}
		return ""
	}
	for _, k := range all {
		switch b, a, n := at(before, k), at(after, k), at(now, k); {
		case a == b:
		case n == a:
			new = append(new, k)
		case n == b:
			old = append(old, k)
		default:
			other = append(other, k)
		}
	}
	return new, old, other
}

// told compares the report on a half-applied change with the actual files.
func told(p *change.Partly, new, old []string) error {
	if p == nil {
		return errors.New("it is not said to be half applied")
	}
	have := func(list []string) []string { list = slices.Clone(list); slices.Sort(list); return list }
	if !slices.Equal(have(p.New), new) || !slices.Equal(have(p.Old), old) || len(p.Other)+len(p.Unknown) > 0 {
		return fmt.Errorf("it is said that new is %v, old %v, other %v, unknown %v; true is new %v, old %v", p.New, p.Old, p.Other, p.Unknown, new, old)
	}
	return nil
}

type halfwayCounts struct{ atOnce, atStart, byCommand, whole int }

// run applies the set while calls fail and compares the report with the files.
func (h *halfway) run(after map[string]string, counts *halfwayCounts) error {
	ctx := context.Background()
	before := h.files()
	w, done := h.open()
	closed := false
	defer func() {
		if !closed {
			done()
		}
	}()
	h.layer.turn(true)
	_, err := w.Apply(ctx, h.set)
	now := h.files()
	var partial *change.PartialError
	new, old, other := truth(before, after, now)
	switch {
	case len(other) > 0:
		return fmt.Errorf("%v are neither old nor new; the answer: %w", other, err)
	case err == nil && len(old) > 0:
		return fmt.Errorf("success, and %v are old", old)
	case err == nil:
		counts.whole++
		return nil
	case !errors.As(err, &partial):
		if len(new) > 0 {
			return fmt.Errorf("%v are new, and the answer does not say so: %w", new, err)
		}
		counts.atOnce++
		return nil
	}
	if len(old) > 0 {
		for _, p := range append(slices.Clone(new), old...) {
			if !slices.Contains(partial.Partly.New, p) && !slices.Contains(partial.Partly.Old, p) {
				return fmt.Errorf("the answer does not name %s: %w", p, err)
			}
		}
		if err := told(&partial.Partly, new, old); err != nil {
			return fmt.Errorf("the answer: %w", err)
		}
		if !strings.Contains(err.Error(), new[0]) || !strings.Contains(err.Error(), old[0]) || !strings.Contains(partial.Hint(), partial.ID) {
			return fmt.Errorf("the answer's words: %w; %s", err, partial.Hint())
		}
		if err := h.inLog(w, partial.ID, new, old); err != nil {
			return err
		}
	} else if len(new) > 0 {
		// The set is complete although a step reported an error.
		h.layer.turn(false)
		log, err := w.Log(0)
		if err != nil || len(log.Changes) != 1 || log.Changes[0].Partly != nil {
			return fmt.Errorf("complete, but the log says %+v, %v", log, err)
		}
		counts.whole++
		return nil
	}
	// A single undo repairs it once calls succeed again.
	if h.command {
		h.layer.turn(false)
		if _, err := w.Undo(ctx, partial.ID, change.Options{}); err != nil {
			return fmt.Errorf("undo of a half-applied set: %w", err)
		}
		if now := h.files(); !same(now, before) {
			return fmt.Errorf("after the undo there is %v, before the set there was %v", now, before)
		}
		counts.byCommand++
	}
	// Reopening repairs it too. While calls still fail, it reports the half-applied
	// change.
	closed = true
	done()
	if !h.command {
		if !h.stateToo {
			w, done = h.open()
			now := h.files()
			new, old, _ := truth(before, after, now)
			if len(new) > 0 && len(old) > 0 {
				if err := h.inLog(w, partial.ID, new, old); err != nil {
					done()
					return fmt.Errorf("after a start that could not repair it: %w", err)
				}
			}
			done()
		}
		h.layer.turn(false)
		counts.atStart++
	}
	w, done = h.open()
	defer done()
	if now := h.files(); !same(now, before) {
		return fmt.Errorf("after the next start there is %v, before the set there was %v", now, before)
	}
	log, err := w.Log(0)
	if err != nil {
		return err
	}
	for _, c := range log.Changes {
		if c.Partly != nil || c.Pending {
			return fmt.Errorf("repaired, but the log says %+v", c)
		}
	}
	return nil
}

func (h *halfway) inLog(w *Changer, id string, new, old []string) error {
	log, err := w.Log(0)
	if err != nil {
		if h.stateToo {
			return nil // the log can't be read, which is reported
		}
		return err
	}
	i := slices.IndexFunc(log.Changes, func(c change.Change) bool { return c.ID == id })
	if i < 0 {
		return errors.New("the log does not have the change")
	}
	if err := told(log.Changes[i].Partly, new, old); err != nil {
		return fmt.Errorf("the log: %w", err)
	}
	return nil
}

// A set that fails half-way, because from some point on calls fail, is rolled back
// completely, or the answer and the log say which files are new and which are old. This
// holds for all calls and errors. Undo and reopening repair it.
func TestLastingFaults(t *testing.T) {
	run := regime.Start(t, "lasting fault: every call of a set from one on", 1, 1)
	var counts halfwayCounts
	for _, n := range []int{1, 2, 3, 5, 8, 13, 20} {
		for _, stateToo := range []bool{false, true} {
			// Count the calls in a run without faults.
			l := &lasting{}
			h := newHalfway(t, n, stateToo, l)
			before := h.files()
			w, done := h.open()
			l.turn(true)
			_, err := w.Apply(context.Background(), h.set)
			l.turn(false)
			if err != nil {
				t.Fatal(err)
			}
			after := h.files()
			done()
			os.RemoveAll(h.base)
			if new, old, other := truth(before, after, after); len(new) < n || len(old)+len(other) > 0 {
				t.Fatalf("the set of %d makes %v new, %v old, %v other", n, new, old, other)
			}
			k := 0
			for _, call := range slices.Sorted(maps.Keys(l.seen)) {
				for from := range l.seen[call] {
					for _, errno := range lastingErrors {
						if k++; !regime.Takes(k*31+n*7) || call == "" && from > 40 && k%8 != 0 || !regime.Thorough() && k%4 != 0 {
							continue
						}
						h := newHalfway(t, n, stateToo, &lasting{call: call, from: from, err: errno})
						h.command = counts.byCommand <= counts.atStart
						if err := h.run(after, &counts); err != nil {
							t.Errorf("a set of %d, %q fails with %v from its call %d on (the journal too: %v): %v", n, call, errno, from, stateToo, err)
						}
						os.RemoveAll(h.base)
						run.Tried(1)
						if t.Failed() {
							return
						}
					}
				}
			}
		}
	}
	t.Logf("old at once %d, repaired by undo %d, by the next start %d, new as a whole %d", counts.atOnce, counts.byCommand, counts.atStart, counts.whole)
	if counts.atOnce == 0 || counts.byCommand+counts.atStart == 0 {
		t.Errorf("no set failed half-way: %+v", counts)
	}
}
