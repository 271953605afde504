//go:build unix

package changer_test

import (
	"os"
	"path/filepath"
	"testing"

	"quarry/change"
)

// The owner of a deleted file is not recorded, so a restored file may belong to another
// user. It must not have setuid or setgid bits.
func TestSetIDBitsDoNotComeBack(t *testing.T) {
	ws := changeable(t, map[string]string{"run.sh": "#!/bin/sh\n"}, nil)
	file := filepath.Join(ws.Dir(), "run.sh")
	if err := os.Chmod(file, 0o755|os.ModeSetuid|os.ModeSetgid); err != nil {
		t.Fatal(err)
	}
	made, err := ws.Delete(ctx, "run.sh", &change.DeleteOptions{Trash: change.TrashNone})
	if err != nil {
		t.Fatal(err)
	}
	undone, err := ws.Undo(ctx, made.ID, nil)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode() != 0o755 {
		t.Errorf("came back with %v, %v", info.Mode(), err)
	}
	if _, err := ws.Undo(ctx, undone.ID, nil); err != nil {
		t.Errorf("deleting it again: %v", err)
	}
}
