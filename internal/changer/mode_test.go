package changer

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/change"
	"quarry/internal/patch"
	"quarry/internal/rootfs"
)

func modeOf(t *testing.T, w *Changer, name string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(filepath.Join(w.root.RealDir(), name))
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

// git's "old mode" and "new mode" are applied, alone, with an edit and with a rename,
// also to binary files. One undo restores the modes, and a redo sets them again.
func TestPatchChangesModes(t *testing.T) {
	if !rootfs.ExecutableBit {
		t.Skip("this system keeps no executable bit")
	}
	ctx := context.Background()
	w := changing(t, map[string]string{"run.sh": "#!/bin/sh\n", "tool": "\x00\x01binary", "a.txt": "one\n", "old.sh": "x\n"})
	chmod := func(name string, m fs.FileMode) {
		if err := os.Chmod(filepath.Join(w.root.RealDir(), name), m); err != nil {
			t.Fatal(err)
		}
	}
	chmod("run.sh", 0o640)
	chmod("old.sh", 0o755)
	ops, err := patch.Parse(strings.Join([]string{
		"diff --git a/run.sh b/run.sh", "old mode 100644", "new mode 100755",
		"diff --git a/tool b/tool", "old mode 100644", "new mode 100755",
		"diff --git a/a.txt b/a.txt", "old mode 100644", "new mode 100755", "index 5626abf..814f4a4", "--- a/a.txt", "+++ b/a.txt", "@@ -1 +1 @@", "-one", "+two",
		"diff --git a/old.sh b/new.sh", "old mode 100755", "new mode 100644", "similarity index 100%", "rename from old.sh", "rename to new.sh", "",
	}, "\n"), -1)
	if err != nil {
		t.Fatal(err)
	}
	modes := func(after bool) {
		t.Helper()
		want := map[string]fs.FileMode{"run.sh": 0o640, "tool": 0o644, "a.txt": 0o644, "old.sh": 0o755}
		if after {
			want = map[string]fs.FileMode{"run.sh": 0o750, "tool": 0o755, "a.txt": 0o755, "new.sh": 0o644}
		}
		for name, m := range want {
			if have := modeOf(t, w, name); have != m {
				t.Errorf("%s has mode %o, want %o", name, have, m)
			}
		}
	}
	chmod("tool", 0o644)
	chmod("a.txt", 0o644)
	c, err := w.Apply(ctx, change.Set{Ops: ops})
	if err != nil {
		t.Fatal(err)
	}
	modes(true)
	if text(t, w, "a.txt") != "two\n" || len(c.Files) != 4 || c.Files[1].Did != change.SetMode || len(c.Warnings) > 0 {
		t.Errorf("a.txt is %q; the change tells %+v, %v", text(t, w, "a.txt"), c.Files, c.Warnings)
	}
	if !strings.Contains(c.Diff, "diff --git a/a.txt b/a.txt\nold mode 100644\nnew mode 100755\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n") {
		t.Errorf("the diff is not git's:\n%s", c.Diff)
	}
	undo, err := w.Undo(ctx, c.ID, change.Options{})
	if err != nil {
		t.Fatal(err)
	}
	modes(false)
	if !strings.Contains(undo.Diff, "old mode 100755\nnew mode 100644\n") {
		t.Errorf("the undo shows\n%s", undo.Diff)
	}
	if _, err := w.Undo(ctx, undo.ID, change.Options{}); err != nil {
		t.Fatal(err)
	}
	modes(true)
}

// Quarry's own diff of a mode and a content can be applied again.
func TestModeDiffAppliesAgain(t *testing.T) {
	if !rootfs.ExecutableBit {
		t.Skip("this system keeps no executable bit")
	}
	ctx := context.Background()
	first, second := changing(t, map[string]string{"a b.txt": "one\n"}), changing(t, map[string]string{"a b.txt": "one\n"})
	c, err := first.Apply(ctx, change.Set{Ops: []change.Op{{Verb: change.EditFile, Path: "a b.txt", Edits: []change.Edit{{Old: "one", New: "two"}}, Executable: new(true)}}})
	if err != nil {
		t.Fatal(err)
	}
	shown, err := first.Diff(c.ID, nil)
	if err != nil {
		t.Fatal(err)
	}
	ops, err := patch.Parse(shown.Diff, -1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := second.Apply(ctx, change.Set{Ops: ops}); err != nil {
		t.Fatal(err)
	}
	if text(t, second, "a b.txt") != "two\n" || modeOf(t, second, "a b.txt")&0o100 == 0 {
		t.Errorf("content %q, mode %o", text(t, second, "a b.txt"), modeOf(t, second, "a b.txt"))
	}
}

// An undo is refused, with the reason, if the file's mode was changed since. A plan is
// refused if a file got another mode. A plan that changes nothing makes no change.
func TestModeConflicts(t *testing.T) {
	if !rootfs.ExecutableBit {
		t.Skip("this system keeps no executable bit")
	}
	ctx := context.Background()
	w := changing(t, map[string]string{"a": "one\n", "b": "two\n"})
	name := filepath.Join(w.root.RealDir(), "a")
	if err := os.Chmod(name, 0o644); err != nil { // independent of the umask
		t.Fatal(err)
	}
	makeExecutable := change.Set{Ops: []change.Op{{Verb: change.EditFile, Path: "a", Executable: new(true)}}}
	plan, err := w.Plan(ctx, makeExecutable)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, 0o600); err != nil {
		t.Fatal(err)
	}
	var other *planError
	if _, err := w.Apply(ctx, change.Set{Digest: plan.Digest}); !errors.As(err, &other) {
		t.Errorf("the plan for another mode: %v", err)
	}
	c, err := w.Apply(ctx, makeExecutable)
	if err != nil || modeOf(t, w, "a") != 0o700 {
		t.Fatalf("%v, mode %o", err, modeOf(t, w, "a"))
	}
	if c.Summary != "made a executable" {
		t.Errorf("summary %q", c.Summary)
	}
	plan, err = w.Plan(ctx, change.Set{Ops: []change.Op{{Verb: change.EditFile, Path: "a", Executable: new(false)}}})
	if err != nil {
		t.Fatal(err)
	}
	if cleared, err := w.Apply(ctx, change.Set{Digest: plan.Digest}); err != nil || modeOf(t, w, "a") != 0o600 {
		t.Errorf("the plan to clear the bits: %v, mode %o", err, modeOf(t, w, "a"))
	} else if _, err := w.Undo(ctx, cleared.ID, change.Options{}); err != nil {
		t.Fatal(err)
	}
	if again, err := w.Apply(ctx, makeExecutable); err != nil || !again.Unchanged {
		t.Errorf("once more: %+v, %v", again, err)
	}
	if err := os.Chmod(name, 0o755); err != nil {
		t.Fatal(err)
	}
	var refused *change.UndoError
	if _, err := w.Undo(ctx, c.ID, change.Options{}); !errors.As(err, &refused) || refused.Paths[0].Reason != change.ModeChanged {
		t.Errorf("undo: %v", err)
	}
	if err := os.Chmod(name, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Undo(ctx, c.ID, change.Options{}); err != nil || modeOf(t, w, "a") != 0o600 {
		t.Errorf("undo: %v, mode %o", err, modeOf(t, w, "a"))
	}
}
