package quarry_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry"
	"quarry/change"
	"quarry/fault"
	"quarry/internal/stress"
)

// A state folder can't be used for another folder, even if the files there are the same. A folder
// that was moved, or restored from a copy, keeps its state folder.
func TestStateOfAnotherFolder(t *testing.T) {
	stress.NeedsUnix(t, "a folder that is renamed while it is open")
	ctx := context.Background()
	base, state := t.TempDir(), t.TempDir()
	dir := func(name string) string { return filepath.Join(base, name) }
	open := func(name string) (*quarry.Workspace, error) {
		return quarry.Open(dir(name), &quarry.Options{StateDir: state})
	}
	putFile(t, filepath.Join(dir("a"), "s.txt"), "old\n")
	putFile(t, filepath.Join(dir("b"), "s.txt"), "new\n")
	early, err := open("b") // before there are changes
	if err != nil {
		t.Fatal(err)
	}
	defer early.Close()
	a, err := open("a")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if _, err := a.Edit(ctx, "s.txt", []change.Edit{{Old: "old", New: "new"}}, nil); err != nil {
		t.Fatal(err)
	}
	refused := func(what string, err error) {
		t.Helper()
		if fault.CodeOf(err) != fault.InvalidArgument || !strings.Contains(err.Error(), dir("a")) || !strings.Contains(err.Error(), state) || fault.HintOf(err) == "" {
			t.Errorf("%s: %v, code %s; want a refusal that names both folders", what, err, fault.CodeOf(err))
		}
	}
	_, err = open("b")
	refused("Open", err)
	for _, name := range []string{"Undo", "Write", "Changes", "Diff", "Delete", "Clean"} {
		refused(name, closing[name](ctx, early))
	}
	if text, _ := os.ReadFile(filepath.Join(dir("b"), "s.txt")); string(text) != "new\n" {
		t.Errorf("b has %q", text)
	}

	undo := func(what, name string) {
		t.Helper()
		ws, err := open(name)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		defer ws.Close()
		if _, err := ws.Undo(ctx, "", nil); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if _, err := ws.Edit(ctx, "s.txt", []change.Edit{{Old: "old", New: "new"}}, nil); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	a.Close()
	undo("the same folder", "a")
	if err := os.Rename(dir("a"), dir("moved")); err != nil {
		t.Fatal(err)
	}
	undo("moved", "moved")
	putFile(t, filepath.Join(dir("a"), "s.txt"), "new\n")
	if _, err := open("a"); fault.CodeOf(err) != fault.InvalidArgument {
		t.Errorf("another folder where the first one was: %v", err)
	}
	if err := os.RemoveAll(dir("moved")); err != nil {
		t.Fatal(err)
	}
	putFile(t, filepath.Join(dir("moved"), "s.txt"), "new\n")
	undo("restored", "moved")
	// A truncated record is ignored.
	if err := os.Truncate(filepath.Join(state, "folder"), 20); err != nil {
		t.Fatal(err)
	}
	undo("cut short", "moved")
	if _, err := open("b"); fault.CodeOf(err) != fault.InvalidArgument {
		t.Errorf("b again: %v", err)
	}
}

// A search does not find Quarry's own data.
func TestFoldersInside(t *testing.T) {
	dir := t.TempDir()
	inside := filepath.Join(dir, "sub", "st")
	if err := os.MkdirAll(inside, 0o700); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "up")
	if err := os.Symlink(dir, link); err != nil {
		t.Logf("no symlinks here: %v", err)
		link = dir
	}
	for name, opts := range map[string]*quarry.Options{
		"StateDir":   {StateDir: inside},
		"a link":     {StateDir: filepath.Join(link, "sub", "st")},
		"the folder": {StateDir: dir},
		"Index.Dir":  {Index: &quarry.IndexOptions{Dir: inside}},
		"not made":   {Index: &quarry.IndexOptions{Dir: filepath.Join(inside, "new"), Home: inside}},
		"Review.Dir": {StateDir: t.TempDir(), Review: &quarry.ReviewOptions{Dir: inside}},
	} {
		ws, err := quarry.Open(dir, opts)
		if err == nil {
			ws.Close()
		}
		if fault.CodeOf(err) != fault.InvalidArgument || fault.HintOf(err) == "" {
			t.Errorf("%s: %v, code %s", name, err, fault.CodeOf(err))
		}
	}
	ws, err := quarry.Open(dir, &quarry.Options{StateDir: inside, AllowAny: true})
	if err != nil {
		t.Fatalf("with AllowAny: %v", err)
	}
	ws.Close()
}

// The undo log and the index can't be in the same folder, because each locks its folder and would
// wait for the other forever.
func TestStateAndIndexInOneFolder(t *testing.T) {
	state := t.TempDir()
	for _, other := range []string{state, state + "/."} {
		_, err := quarry.Open(t.TempDir(), &quarry.Options{StateDir: state, Index: &quarry.IndexOptions{Dir: other}})
		if fault.CodeOf(err) != fault.InvalidArgument || !strings.Contains(fault.HintOf(err), "a folder of its own") {
			t.Errorf("%s and %s: %v", state, other, err)
		}
	}
}
