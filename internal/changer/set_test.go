package changer

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quarry/change"
	"quarry/fault"
)

// tree returns every file of a folder with its content. It omits the deletion time of
// items in the trash, because a redo may delete them in another second.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		text := string(data)
		if filepath.Ext(path) == ".trashinfo" {
			text, _, _ = strings.Cut(text, "DeletionDate=")
		}
		out[filepath.ToSlash(rel)] = text
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func equal(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		if w, ok := b[k]; !ok || v != w {
			return false
		}
	}
	return true
}

// A set of operations of all kinds is one log entry, and one undo restores the tree.
func TestSet(t *testing.T) {
	ctx := context.Background()
	w := changing(t, map[string]string{"a.txt": "one\ntwo\n", "d/b.txt": "b\n", "old/c.txt": "c\n", "gone.txt": "x\n"})
	before := tree(t, w.root.RealDir())
	set := change.Set{Tool: "test", Client: change.Client{Name: "agent", Version: "7"}, Ops: []change.Op{
		{Verb: change.EditFile, Path: "a.txt", Edits: []change.Edit{{Old: "one", New: "1"}}},
		{Verb: change.EditFile, Path: "a.txt", Edits: []change.Edit{{Old: "two", New: "2"}}},
		{Verb: change.WriteFile, Path: "d/b.txt", Content: []byte("B\n")},
		{Verb: change.CreateFile, Path: "n/e/w.txt", Content: []byte("new\n")},
		{Verb: change.CreateFile, Path: "n/e/x.txt", Content: []byte("x\n")},
		{Verb: change.MovePath, Path: "old/c.txt", To: "moved/c.txt", Edits: []change.Edit{{Old: "c", New: "C"}}},
		{Verb: change.DeletePath, Path: "gone.txt"},
		{Verb: change.MakeFolder, Path: "empty/folder"},
	}}
	plan, err := w.Plan(ctx, set)
	if err != nil {
		t.Fatal(err)
	}
	if now := tree(t, w.root.RealDir()); !equal(now, before) {
		t.Fatalf("a plan changed files: %v", now)
	}
	done, err := w.Apply(ctx, change.Set{Digest: plan.Digest, Tool: "test", Client: set.Client})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"a.txt": "1\n2\n", "d/b.txt": "B\n", "n/e/w.txt": "new\n", "n/e/x.txt": "x\n", "moved/c.txt": "C\n"}
	if now := tree(t, w.root.RealDir()); !equal(now, want) {
		t.Errorf("after the set: %v", now)
	}
	if len(done.Files) != 6 || done.Files[0].Path != "a.txt" || done.Files[0].Added != 2 || done.Summary != "changed 6 files" {
		t.Errorf("it tells %+v, %q", done.Files, done.Summary)
	}
	log, err := w.Log(0)
	if err != nil || len(log.Changes) != 1 || log.Changes[0].Client != set.Client {
		t.Fatalf("the journal has %+v, %v", log, err)
	}
	if _, err := w.Undo(ctx, "", change.Options{}); err != nil {
		t.Fatal(err)
	}
	if now := tree(t, w.root.RealDir()); !equal(now, before) {
		t.Errorf("after undo: %v", now)
	}
}

// An error in one operation refuses the whole set, and all errors are reported.
func TestSetRefused(t *testing.T) {
	ctx := context.Background()
	w := changing(t, map[string]string{"a.txt": "one\ntwo\none\n", "b.txt": "b\n", "d/x.txt": "x\n"})
	before := tree(t, w.root.RealDir())
	edit := func(path, old string) change.Op {
		return change.Op{Verb: change.EditFile, Path: path, Edits: []change.Edit{{Old: old, New: "NEW"}}}
	}
	stale := edit("b.txt", "b")
	stale.Version = strings.Repeat("0", 32)
	for _, c := range []struct {
		name   string
		ops    []change.Op
		failed []int
		code   fault.Code
	}{
		{"text that is not there, and text that is there twice", []change.Op{edit("a.txt", "three"), edit("b.txt", "b"), edit("a.txt", "one")}, []int{0, 2}, fault.NotFound},
		{"a stale version", []change.Op{edit("a.txt", "two"), stale}, []int{1}, fault.Conflict},
		{"outside", []change.Op{edit("a.txt", "two"), {Verb: change.WriteFile, Path: "../x"}}, []int{1}, fault.OutsideRoot},
		{"protected", []change.Op{edit("a.txt", "two"), {Verb: change.WriteFile, Path: ".git/x"}}, []int{1}, fault.ProtectedPath},
		{"moved and named", []change.Op{{Verb: change.MovePath, Path: "b.txt", To: "c.txt"}, edit("b.txt", "b")}, []int{1}, fault.InvalidArgument},
		{"deleted and named below", []change.Op{{Verb: change.DeletePath, Path: "d"}, edit("d/x.txt", "x")}, []int{1}, fault.InvalidArgument},
		{"over a file", []change.Op{edit("a.txt", "two"), {Verb: change.MovePath, Path: "b.txt", To: "d/x.txt"}}, []int{1}, fault.AlreadyExists},
		{"a text and then a move, which is planned first", []change.Op{edit("a.txt", "three"), {Verb: change.MovePath, Path: "b.txt", To: "d/x.txt"}}, []int{0, 1}, fault.NotFound},
		{"a file that exists", []change.Op{edit("a.txt", "two"), {Verb: change.CreateFile, Path: "b.txt"}}, []int{1}, fault.AlreadyExists},
		{"edits that overlap", []change.Op{edit("a.txt", "two"), edit("a.txt", "two\none")}, []int{0}, fault.InvalidArgument},
	} {
		_, err := w.Apply(ctx, change.Set{Ops: c.ops})
		var refused *change.SetError
		if !errors.As(err, &refused) || fault.CodeOf(err) != c.code {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []int
		for _, f := range refused.Failed {
			got = append(got, f.Index)
		}
		if !slices.Equal(got, c.failed) {
			t.Errorf("%s: operations %v failed, want %v", c.name, got, c.failed)
		}
		if now := tree(t, w.root.RealDir()); !equal(now, before) {
			t.Fatalf("%s: files changed: %v", c.name, now)
		}
	}
}

// Applying a plan does what was shown, or nothing.
func TestPlanIsKept(t *testing.T) {
	ctx := context.Background()
	w := changing(t, map[string]string{"a.txt": "one\n", "b.txt": "one\n"})
	all := change.Set{Ops: []change.Op{
		{Verb: change.EditFile, Path: "a.txt", Edits: []change.Edit{{Old: "one", New: "1"}}},
		{Verb: change.EditFile, Path: "b.txt", Edits: []change.Edit{{Old: "one", New: "1"}}},
	}}
	plan, err := w.Plan(ctx, all)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.root.RealDir(), "b.txt"), []byte("one\nmore\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Apply(ctx, change.Set{Digest: plan.Digest}); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("a file changed since the plan: %v", err)
	}
	all.Digest = plan.Digest
	if _, err := w.Apply(ctx, all); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("the set with the digest: %v", err)
	}
	if text(t, w, "a.txt") != "one\n" {
		t.Error("a refused plan changed a file")
	}
	if _, err := w.Apply(ctx, change.Set{Digest: "feedbeef"}); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("an unknown plan: %v", err)
	}
}

// A file with two hard links is written once if a set makes the same change under both
// names. Two different changes are refused before anything is written.
func TestSetOfTwoNames(t *testing.T) {
	ctx := context.Background()
	w := changing(t, map[string]string{"a.txt": "one\n", "z.txt": "one\n"})
	dir := w.root.RealDir()
	if err := os.Link(filepath.Join(dir, "a.txt"), filepath.Join(dir, "b.txt")); err != nil {
		t.Skip("no hard links here:", err)
	}
	edit := func(path, to string) change.Op {
		return change.Op{Verb: change.EditFile, Path: path, Edits: []change.Edit{{Old: "one", New: to}}}
	}
	var same *sameFileError
	if _, err := w.Apply(ctx, change.Set{Ops: []change.Op{edit("a.txt", "1"), edit("b.txt", "2")}}); !errors.As(err, &same) {
		t.Errorf("two changes of one file: %v", err)
	}
	for _, ops := range [][]change.Op{
		{edit("a.txt", "1"), edit("b.txt", "1"), edit("z.txt", "1")},
		{{Verb: change.WriteFile, Path: "a.txt", Content: []byte("1\n")}, edit("b.txt", "1"), edit("z.txt", "1")},
	} {
		if _, err := w.Apply(ctx, change.Set{Ops: ops}); err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"a.txt": "1\n", "b.txt": "1\n", "z.txt": "1\n"}
		if now := tree(t, dir); !equal(now, want) {
			t.Errorf("after the set: %v", now)
		}
		if _, err := w.Undo(ctx, "", change.Options{}); err != nil {
			t.Fatal(err)
		}
		want = map[string]string{"a.txt": "one\n", "b.txt": "one\n", "z.txt": "one\n"}
		if now := tree(t, dir); !equal(now, want) {
			t.Errorf("after the undo: %v", now)
		}
	}
}
