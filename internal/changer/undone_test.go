package changer_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry"
	"quarry/change"
)

// refusesUndo checks that undoing a change is refused because of path, and that the
// attempt changes nothing.
func refusesUndo(t *testing.T, ws *quarry.Workspace, id, path string) {
	t.Helper()
	before := snapshot(t, ws.Dir())
	_, err := ws.Undo(ctx, id, nil)
	var conflict *change.UndoError
	if !errors.As(err, &conflict) || len(conflict.Paths) != 1 || conflict.Paths[0].Path != path || conflict.Paths[0].Reason != change.ContentChanged && conflict.Paths[0].Reason != change.IsOther {
		t.Errorf("undo: %v", err)
	}
	if diff := cmp.Diff(before, snapshot(t, ws.Dir())); diff != "" {
		t.Error(diff)
	}
}

// A deletion that was undone is not redone if the file was edited since.
func TestRedoOfDeletionRefusesForeignChange(t *testing.T) {
	for _, kind := range []change.TrashKind{change.TrashSystem, change.TrashLocal, change.TrashNone} {
		t.Run(string(kind), func(t *testing.T) {
			ws := changeable(t, map[string]string{"a.md": "one\n"}, &quarry.Options{Trash: kind, TrashDir: t.TempDir()})
			must(t)(ws.Delete(ctx, "a.md", nil))
			back := must(t)(ws.Undo(ctx, "", nil))
			put(t, ws, "a.md", "one\nand more\n")
			refusesUndo(t, ws, back.ID, "a.md")
			put(t, ws, "a.md", "one\n")
			must(t)(ws.Undo(ctx, back.ID, nil))
			if _, err := os.Lstat(filepath.Join(ws.Dir(), "a.md")); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("redo of the deletion: %v", err)
			}
		})
	}
}

// A move is undone only if its new path still has the moved file.
func TestUndoOfMoveRefusesReplacedDestination(t *testing.T) {
	ws := changeable(t, map[string]string{"a.md": "mine\n", "target": ""}, nil)
	moved := must(t)(ws.Move(ctx, "a.md", "sub/b.md", nil))
	put(t, ws, "sub/b.md", "somebody else's\n")
	refusesUndo(t, ws, moved.ID, "sub/b.md")
	put(t, ws, "sub/b.md", "mine\n")
	must(t)(ws.Undo(ctx, moved.ID, nil))

	// If the change also edited the file, the edited content is expected there.
	both := must(t)(ws.Apply(ctx, change.Set{Ops: []change.Op{{Verb: change.MovePath, Path: "a.md", To: "c.md",
		Edits: []change.Edit{{Verb: change.ReplaceText, Old: "mine", New: "ours"}}}}}))
	put(t, ws, "c.md", "theirs\n")
	refusesUndo(t, ws, both.ID, "c.md")
	put(t, ws, "c.md", "ours\n")
	must(t)(ws.Undo(ctx, both.ID, nil))

	link := filepath.Join(ws.Dir(), "link")
	if err := os.Symlink("target", link); err != nil {
		t.Fatal(err)
	}
	moved = must(t)(ws.Move(ctx, "link", "other", nil))
	other := filepath.Join(ws.Dir(), "other")
	if err := errors.Join(os.Remove(other), os.Symlink("a.md", other)); err != nil {
		t.Fatal(err)
	}
	refusesUndo(t, ws, moved.ID, "other")
}

// Files of the same name that are deleted within a second are each restored by undoing
// their own deletion.
func TestTrashWithinASecond(t *testing.T) {
	for _, kind := range []change.TrashKind{change.TrashSystem, change.TrashLocal} {
		t.Run(string(kind), func(t *testing.T) {
			ws := changeable(t, map[string]string{"d/x.md": "1", "e/x.md": "2"}, &quarry.Options{Trash: kind, TrashDir: t.TempDir()})
			began := time.Now()
			var ids []string
			for _, p := range []string{"d/x.md", "e/x.md", "d/x.md", "d/x.md"} {
				ids = append(ids, must(t)(ws.Delete(ctx, p, nil)).ID)
				put(t, ws, "d/x.md", "later "+p)
			}
			t.Logf("4 deletions in %v", time.Since(began))
			list, _, err := ws.Trashed(ctx)
			if err != nil || len(list) != 4 {
				t.Fatalf("%d in the trash, %v", len(list), err)
			}
			if err := os.Remove(filepath.Join(ws.Dir(), "d/x.md")); err != nil {
				t.Fatal(err)
			}
			// The older one first, although a newer one has the same name.
			must(t)(ws.Undo(ctx, ids[0], nil))
			must(t)(ws.Undo(ctx, ids[1], nil))
			for p, want := range map[string]string{"d/x.md": "1", "e/x.md": "2"} {
				if got, err := os.ReadFile(filepath.Join(ws.Dir(), p)); err != nil || string(got) != want {
					t.Errorf("%s: %q, %v; want %q", p, got, err, want)
				}
			}
		})
	}
}
