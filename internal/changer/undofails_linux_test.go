package changer

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"quarry/change"
	"quarry/internal/rootfs"
)

// An undo restores a file from the trash, then fails and moves it to the trash again,
// with a later date. The next undo finds it.
func TestUndoFailsAfterRestoring(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		armed, renames := false, 0
		layer := &rootfs.Layer{Before: func(call string) error {
			if call == "rename" && armed {
				if renames++; renames == 2 { // the first rename restores from the trash
					return unix.EIO
				}
			}
			return nil
		}}
		root, err := rootfs.Open(dir, &rootfs.Options{Layer: layer})
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		w, err := Open(root, &Options{StateDir: state, Trash: change.TrashLocal, Logger: slog.New(slog.DiscardHandler), Layer: &rootfs.Layer{}})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		for _, name := range []string{"gone", "moved"} {
			if _, err := w.Apply(ctx, change.Set{Ops: []change.Op{{Verb: change.CreateFile, Path: name, Content: []byte(name)}}}); err != nil {
				t.Fatal(err)
			}
		}
		c, err := w.Apply(ctx, change.Set{Ops: []change.Op{{Verb: change.MovePath, Path: "moved", To: "there"}, {Verb: change.DeletePath, Path: "gone"}}})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		armed = true
		if _, err := w.Undo(ctx, c.ID, change.Options{}); !errors.Is(err, unix.EIO) {
			t.Fatalf("the undo that fails: %v", err)
		}
		armed = false
		undone, err := w.Undo(ctx, c.ID, change.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if text(t, w, "gone") != "gone" || text(t, w, "moved") != "moved" {
			t.Error("the files are not back")
		}
		// The same for a file that a redo moved to the trash.
		time.Sleep(5 * time.Second)
		if _, err := w.Undo(ctx, undone.ID, change.Options{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		armed, renames = true, 0
		if _, err := w.Undo(ctx, "", change.Options{}); !errors.Is(err, unix.EIO) {
			t.Fatalf("the undo of the redo that fails: %v", err)
		}
		armed = false
		if _, err := w.Undo(ctx, "", change.Options{}); err != nil || text(t, w, "gone") != "gone" {
			t.Error(err)
		}
	})
}
