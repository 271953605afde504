package changer

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/change"
)

// If files have changed since, an undo is refused as a whole. With SkipConflicts it skips
// those files and undoes the others, as a change that can itself be undone.
func TestUndoSkipsConflicts(t *testing.T) {
	ctx := context.Background()
	w := changing(t, map[string]string{"a": "a\n", "b": "b\n", "d": "d\n", "f": "f\n", "g": "g\n"})
	before := tree(t, w.root.RealDir())
	c, err := w.Apply(ctx, change.Set{Ops: []change.Op{
		{Verb: change.EditFile, Path: "a", Edits: []change.Edit{{Old: "a", New: "A"}}},
		{Verb: change.EditFile, Path: "b", Edits: []change.Edit{{Old: "b", New: "B"}}},
		{Verb: change.CreateFile, Path: "new/c", Content: []byte("c\n")},
		{Verb: change.CreateFile, Path: "new/c2", Content: []byte("c2\n")},
		{Verb: change.MovePath, Path: "d", To: "moved/e", Edits: []change.Edit{{Old: "d", New: "D"}}},
		{Verb: change.MovePath, Path: "g", To: "moved/h"},
		{Verb: change.DeletePath, Path: "f"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"b", "moved/e", "new/c2"} {
		if err := os.WriteFile(filepath.Join(w.root.RealDir(), name), []byte("later\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	later := tree(t, w.root.RealDir())
	var conflict *change.UndoError
	if _, err := w.Undo(ctx, c.ID, change.Options{}); !errors.As(err, &conflict) || len(conflict.Paths) != 3 {
		t.Fatalf("undo: %v", err)
	}
	dry, err := w.Undo(ctx, c.ID, change.Options{SkipConflicts: true, DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(dry.Paths, " "); got != "f moved/h g new/c a" {
		t.Errorf("it would undo %q", got)
	}
	if strings.Contains(dry.Diff, "a/b") || !strings.Contains(dry.Diff, "-A\n+a\n") {
		t.Errorf("it shows\n%s", dry.Diff)
	}
	if !equal(tree(t, w.root.RealDir()), later) {
		t.Fatal("a dry run changed files")
	}
	part, err := w.Undo(ctx, c.ID, change.Options{SkipConflicts: true})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"a": "a\n", "b": "later\n", "moved/e": "later\n", "f": "f\n", "g": "g\n", "new/c2": "later\n"}
	if now := tree(t, w.root.RealDir()); !equal(now, want) {
		t.Errorf("after the undo of a part: %v", now)
	}
	if part.Undoes != "" || len(part.Warnings) != 3 || !strings.HasPrefix(part.Summary, "undo a part of "+c.ID) {
		t.Errorf("it tells %+v", part)
	}
	log, err := w.Log(0)
	if err != nil || log.Changes[1].UndoneBy != "" {
		t.Errorf("the first change counts as undone: %+v, %v", log, err)
	}
	if _, err := w.Undo(ctx, part.ID, change.Options{}); err != nil {
		t.Fatal(err)
	}
	if now := tree(t, w.root.RealDir()); !equal(now, later) {
		t.Errorf("the part, made again: %v", now)
	}
	// Without conflicts it is an ordinary undo.
	for name, text := range map[string]string{"b": "B\n", "moved/e": "D\n", "new/c2": "c2\n"} {
		if err := os.WriteFile(filepath.Join(w.root.RealDir(), name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	whole, err := w.Undo(ctx, c.ID, change.Options{SkipConflicts: true})
	if err != nil || whole.Undoes != c.ID {
		t.Fatalf("%+v, %v", whole, err)
	}
	if now := tree(t, w.root.RealDir()); !equal(now, before) {
		t.Errorf("after the undo: %v", now)
	}
}

// If every file has changed since, the undo is refused.
func TestUndoSkipsEverything(t *testing.T) {
	ctx := context.Background()
	w := changing(t, map[string]string{"a": "a\n"})
	c, err := w.Apply(ctx, change.Set{Ops: []change.Op{{Verb: change.EditFile, Path: "a", Edits: []change.Edit{{Old: "a", New: "A"}}}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.root.RealDir(), "a"), []byte("later\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var conflict *change.UndoError
	if _, err := w.Undo(ctx, c.ID, change.Options{SkipConflicts: true}); !errors.As(err, &conflict) {
		t.Errorf("undo: %v", err)
	}
}
