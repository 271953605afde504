package changer

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"quarry/change"
	"quarry/internal/journal"
	"quarry/internal/rootfs"
	"quarry/internal/rootfs/version"
	"quarry/internal/textedit"
)

// changing opens a workspace with the given files for tests of single steps.
func changing(t *testing.T, files map[string]string) *Changer {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return opened(t, dir, t.TempDir())
}

// opened returns a Changer for the folder dir.
func opened(t *testing.T, dir, state string) *Changer {
	t.Helper()
	root, err := rootfs.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	w, err := Open(root, &Options{StateDir: state, Trash: change.TrashNone, Workers: 2, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close(); root.Close() })
	return w
}

// text returns the contents of a file.
func text(t *testing.T, w *Changer, path string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(w.root.RealDir(), path))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func resolved(t *testing.T, w *Changer, path string) rootfs.Path {
	t.Helper()
	p, err := w.root.Resolve(path)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// replaceStep returns a step that replaces old by new in a file.
func replaceStep(t *testing.T, w *Changer, path, old, new string) step {
	t.Helper()
	p := resolved(t, w, path)
	data, _, err := w.root.ReadContent(p, maxRead)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := document(p, data)
	if err != nil {
		t.Fatal(err)
	}
	edited, err := textedit.Apply(doc, change.Edit{Old: old, New: new, Occurrence: change.First})
	if err != nil {
		t.Fatal(err)
	}
	s, err := (&source{path: p, data: data, sum: version.SumOf(data)}).step(w, edited, "")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var errTest = errors.New("the disk is on fire")

// failing returns a step that calls first and then fails.
func failing(t *testing.T, w *Changer, first func()) step {
	return step{
		op: journal.Op{Kind: journal.Create, Path: resolved(t, w, "never"), NewData: []byte("x")},
		do: func(*journal.Tx) error { first(); return errTest },
	}
}

// When a step fails, those before it are rolled back and nothing is recorded.
func TestFailureTakesBackTheRest(t *testing.T) {
	ctx := context.Background()
	w := changing(t, map[string]string{"a.md": "one\n", "b.md": "one\n"})
	folders, err := w.folderSteps(resolved(t, w, "x/y"))
	if err != nil {
		t.Fatal(err)
	}
	steps := append([]step{replaceStep(t, w, "a.md", "one", "two"), replaceStep(t, w, "b.md", "one", "two")}, folders...)
	steps = append(steps, w.createStep(resolved(t, w, "x/y/new"), []byte("n"), nil), failing(t, w, func() {}))
	if err := w.carryOut(ctx, &change.Change{Tool: "test"}, steps); !errors.Is(err, errTest) {
		t.Fatalf("error %v", err)
	}
	if text(t, w, "a.md") != "one\n" || text(t, w, "b.md") != "one\n" {
		t.Error("an edit was not rolled back")
	}
	if entries, _ := os.ReadDir(w.root.RealDir()); len(entries) != 2 {
		t.Errorf("%d entries are left", len(entries))
	}
	if log, err := w.Log(0); err != nil || len(log.Changes) != 0 {
		t.Errorf("the journal has %+v, %v", log, err)
	}
}

// Operations that can't be rolled back get their own log entry, and the error says so.
func TestFailureThatCantBeTakenBack(t *testing.T) {
	ctx := context.Background()
	w := changing(t, map[string]string{"a.md": "one\n", "b.md": "one\n"})
	steps := []step{
		replaceStep(t, w, "a.md", "one", "two"), replaceStep(t, w, "b.md", "one", "two"),
		failing(t, w, func() { os.WriteFile(filepath.Join(w.root.RealDir(), "a.md"), []byte("foreign\n"), 0o644) }),
	}
	err := w.carryOut(ctx, &change.Change{Tool: "test"}, steps)
	var partial *change.PartialError
	if !errors.As(err, &partial) || !errors.Is(err, errTest) {
		t.Fatalf("error %v", err)
	}
	if text(t, w, "a.md") != "foreign\n" || text(t, w, "b.md") != "one\n" {
		t.Errorf("a is %q, b is %q", text(t, w, "a.md"), text(t, w, "b.md"))
	}
	log, err := w.Log(0)
	if err != nil || len(log.Changes) != 1 || log.Changes[0].ID != partial.ID || len(log.Changes[0].Paths) != 1 {
		t.Fatalf("the journal has %+v, %v", log, err)
	}
	// Undoing the entry restores the old content once the foreign content is removed.
	if err := os.WriteFile(filepath.Join(w.root.RealDir(), "a.md"), []byte("two\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Undo(ctx, partial.ID, change.Options{}); err != nil || text(t, w, "a.md") != "one\n" {
		t.Errorf("undo: %v, a is %q", err, text(t, w, "a.md"))
	}
}

// A deletion that fails half-way restores the files it has removed.
func TestDeletionThatFailsHalfWay(t *testing.T) {
	ctx := context.Background()
	w := changing(t, map[string]string{"d/a": "1", "d/e/b": "2", "d/e/c": "3"})
	p := resolved(t, w, "d")
	s := w.removeStep(ctx, p)
	s.do = func(tx *journal.Tx) error {
		if err := w.root.RemoveAll(resolved(t, w, "d/e")); err != nil {
			t.Fatal(err)
		}
		return errTest
	}
	if err := w.carryOut(ctx, &change.Change{Tool: "test"}, []step{s}); !errors.Is(err, errTest) {
		t.Fatalf("error %v", err)
	}
	for name, want := range map[string]string{"d/a": "1", "d/e/b": "2", "d/e/c": "3"} {
		if got := text(t, w, name); got != want {
			t.Errorf("%s is %q", name, got)
		}
	}
}

// A change succeeds even if another process makes a needed folder first.
func TestFolderMadeMeanwhile(t *testing.T) {
	ctx := context.Background()
	w := changing(t, map[string]string{"a": ""})
	folders, err := w.folderSteps(resolved(t, w, "x"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(w.root.RealDir(), "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	steps := append(folders, w.createStep(resolved(t, w, "x/f"), nil, nil))
	if err := w.carryOut(ctx, &change.Change{Tool: "test"}, steps); !errors.Is(err, errReplan) {
		t.Errorf("error %v", err)
	}
}

func TestPathLocks(t *testing.T) {
	w := changing(t, nil)
	p := func(s string) rootfs.Path { return resolved(t, w, s) }
	var l pathLocks
	ctx := context.Background()
	held, err := l.lock(ctx, p("a/b"), p("c"))
	if err != nil {
		t.Fatal(err)
	}
	// free reports whether the paths can be locked within the given time.
	free := func(patience time.Duration, paths ...rootfs.Path) bool {
		short, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		unlock, err := l.lock(short, paths...)
		if err == nil {
			unlock()
		}
		return err == nil
	}
	for _, c := range []struct {
		name  string
		paths []rootfs.Path
		want  bool
	}{
		{"the same", []rootfs.Path{p("c")}, false},
		{"beneath", []rootfs.Path{p("a/b/x")}, false},
		{"above", []rootfs.Path{p("a")}, false},
		{"everything", []rootfs.Path{{}}, false},
		{"one of two", []rootfs.Path{p("z"), p("c/d")}, false},
		{"beside", []rootfs.Path{p("a/bb"), p("cc")}, true},
	} {
		patience := 5 * time.Millisecond
		if c.want {
			patience = time.Minute
		}
		if got := free(patience, c.paths...); got != c.want {
			t.Errorf("%s: free %v, want %v", c.name, got, c.want)
		}
	}
	held()
	if !free(time.Minute, p("a"), p("c")) {
		t.Error("still locked")
	}
}
