package changer_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry"
	"quarry/change"
	"quarry/fault"
	"quarry/internal/notes"
)

func TestEdit(t *testing.T) {
	for _, c := range []struct {
		name, text string
		edits      []change.Edit
		want       string
		outcome    change.Outcome
	}{
		{"the first occurrence", "[ ] a\n[ ] b\n[ ] c\n", []change.Edit{change.Edit{Old: "[ ]", New: "[x]", Occurrence: change.First}}, "[x] a\n[ ] b\n[ ] c\n",
			change.Outcome{Kind: "replace", Count: 1, Line: 1, Remaining: 2, RemainingLines: []int{2, 3}}},
		{"all", "a a\na", []change.Edit{change.Edit{Old: "a", New: "$&", Occurrence: change.All}}, "$& $&\n$&",
			change.Outcome{Kind: "replace", Count: 3, Line: 1}},
		{"insert into CRLF", "a\r\nb\r\n", []change.Edit{change.Edit{Verb: change.InsertAfter, First: 1, New: "x\ny"}}, "a\r\nx\r\ny\r\nb\r\n",
			change.Outcome{Kind: "insert", Count: 2, Line: 1}},
		{"delete lines", "1\n2\n3\n4\n", []change.Edit{change.Edit{Verb: change.DeleteLines, First: 2, Last: 3}}, "1\n4\n",
			change.Outcome{Kind: "delete", Count: 2, Line: 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ws := changeable(t, map[string]string{"f.txt": c.text}, nil)
			before := must(t)(ws.Edit(ctx, "f.txt", c.edits, &change.Options{DryRun: true}))
			if got := content(t, ws, "f.txt"); got != c.text {
				t.Fatalf("a dry run wrote %q", got)
			}
			done := must(t)(ws.Edit(ctx, "f.txt", c.edits, nil))
			if got := content(t, ws, "f.txt"); got != c.want {
				t.Errorf("file is %q, want %q", got, c.want)
			}
			if diff := cmp.Diff(c.outcome, done.Edits[0]); diff != "" {
				t.Error(diff)
			}
			if before.Version != done.Version || before.Diff != done.Diff || done.ID == "" || before.ID != "" {
				t.Errorf("dry run %+v, change %+v", before, done)
			}
			must(t)(ws.Undo(ctx, "", nil))
			if got := content(t, ws, "f.txt"); got != c.text {
				t.Errorf("undo gave %q, want %q", got, c.text)
			}
		})
	}
}

func TestEditRefusals(t *testing.T) {
	files := map[string]string{
		"f.txt": "one\ntwo\n", "bin": "a\x00b", "latin.txt": "caf\xe9\n", ".obsidian/app.json": "{}", "d/x": "",
	}
	for _, c := range []struct {
		name, path string
		edit       change.Edit
		opts       *change.Options
		code       fault.Code
	}{
		{"text that is not there", "f.txt", change.Edit{Old: "three", New: "x", Occurrence: change.First}, nil, fault.NotFound},
		{"a line that is not there", "f.txt", change.Edit{Verb: change.DeleteLines, First: 3, Last: 3}, nil, fault.InvalidArgument},
		{"no text to replace", "f.txt", change.Edit{New: "x", Occurrence: change.First}, nil, fault.InvalidArgument},
		{"a stale version", "f.txt", change.Edit{Old: "one", New: "x", Occurrence: change.First},
			&change.Options{ExpectedVersion: strings.Repeat("0", 31) + "1"}, fault.Conflict},
		{"a version that is none", "f.txt", change.Edit{Old: "one", New: "x", Occurrence: change.First},
			&change.Options{ExpectedVersion: "1"}, fault.InvalidArgument},
		{"a binary file", "bin", change.Edit{Old: "a", New: "x", Occurrence: change.First}, nil, fault.NotText},
		{"text the encoding can't hold", "latin.txt", change.Edit{Old: "caf", New: "日", Occurrence: change.First}, nil, fault.InvalidArgument},
		{"a file that is not there", "none.txt", change.Edit{Old: "a", New: "x", Occurrence: change.First}, nil, fault.NotFound},
		{"another case", "F.txt", change.Edit{Old: "one", New: "x", Occurrence: change.First}, nil, fault.NotFound},
		{"a protected folder", ".obsidian/app.json", change.Edit{Old: "{", New: "[", Occurrence: change.First}, nil, fault.ProtectedPath},
		{"outside", "../f.txt", change.Edit{Old: "one", New: "x", Occurrence: change.First}, nil, fault.OutsideRoot},
		{"a folder", "d", change.Edit{Old: "one", New: "x", Occurrence: change.First}, nil, fault.InvalidArgument},
	} {
		t.Run(c.name, func(t *testing.T) {
			ws := changeable(t, files, nil)
			before := snapshot(t, ws.Dir())
			_, err := ws.Edit(ctx, c.path, []change.Edit{c.edit}, c.opts)
			if got := fault.CodeOf(err); err == nil || got != c.code {
				t.Errorf("error %v, code %s, want %s", err, got, c.code)
			}
			if diff := cmp.Diff(before, snapshot(t, ws.Dir())); diff != "" {
				t.Error(diff)
			}
			if log, err := ws.Changes(ctx, 0); err != nil || len(log.Changes) != 0 {
				t.Errorf("journal has %+v, %v", log, err)
			}
		})
	}
}

func TestWrite(t *testing.T) {
	ws := changeable(t, map[string]string{"old.txt": "before\n"}, nil)
	if err := os.Chmod(filepath.Join(ws.Dir(), "old.txt"), 0o640); err != nil {
		t.Fatal(err)
	}
	first := snapshot(t, ws.Dir())
	c := must(t)(ws.Write(ctx, "a/b/new.txt", []byte("x\r\n"), nil))
	if !c.Created || cmp.Diff(c.Folders, []string{"a", "a/b"}) != "" || c.Size != 3 {
		t.Errorf("created %+v", c)
	}
	must(t)(ws.Write(ctx, "old.txt", []byte("after"), &change.Options{ExpectedVersion: version(t, ws, "old.txt")}))
	if got := snapshot(t, ws.Dir())["old.txt"]; got != "-rw-r----- after" {
		t.Errorf("overwritten: %s", got)
	}
	same := must(t)(ws.Write(ctx, "old.txt", []byte("after"), nil))
	if !same.Unchanged || same.ID != "" {
		t.Errorf("writing the same: %+v", same)
	}
	if _, err := ws.Write(ctx, "gone.txt", nil, &change.Options{ExpectedVersion: c.Version}); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("expected version of a missing file: %v", err)
	}
	if _, err := ws.Write(ctx, "old.txt/x", nil, nil); fault.CodeOf(err) != fault.InvalidArgument {
		t.Errorf("a file as folder: %v", err)
	}
	undoAll(t, ws)
	if diff := cmp.Diff(first, snapshot(t, ws.Dir())); diff != "" {
		t.Error(diff)
	}
}

func version(t testing.TB, ws *quarry.Workspace, path string) string {
	t.Helper()
	text, err := ws.Read(ctx, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return text.Version
}

// undoAll undoes every change, newest first.
func undoAll(t testing.TB, ws *quarry.Workspace) int {
	t.Helper()
	for n := 0; ; n++ {
		_, err := ws.Undo(ctx, "", nil)
		if fault.CodeOf(err) == fault.NotFound && err != nil {
			return n
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestMkdir(t *testing.T) {
	ws := changeable(t, map[string]string{"f": ""}, nil)
	must(t)(ws.Mkdir(ctx, "a/b/", nil))
	if c := must(t)(ws.Mkdir(ctx, "a/b", nil)); !c.Unchanged {
		t.Errorf("an existing folder: %+v", c)
	}
	for path, code := range map[string]fault.Code{"f": fault.InvalidArgument, ".": fault.InvalidArgument, ".git/x": fault.ProtectedPath, "f/x": fault.InvalidArgument} {
		if _, err := ws.Mkdir(ctx, path, nil); fault.CodeOf(err) != code {
			t.Errorf("Mkdir(%q): %v", path, err)
		}
	}
	put(t, ws, "a/b/foreign", "x")
	if _, err := ws.Undo(ctx, "", nil); fault.CodeOf(err) != fault.Conflict || !strings.Contains(err.Error(), "a/b/foreign") {
		t.Errorf("undo of a folder in use: %v", err)
	}
	if err := os.Remove(filepath.Join(ws.Dir(), "a/b/foreign")); err != nil {
		t.Fatal(err)
	}
	must(t)(ws.Undo(ctx, "", nil))
	if diff := cmp.Diff(map[string]string{"f": "-rw-r--r-- "}, snapshot(t, ws.Dir())); diff != "" {
		t.Error(diff)
	}
}

// A folder made for a file remains after an undo if it has other files.
func TestUndoKeepsFoldersInUse(t *testing.T) {
	ws := changeable(t, nil, nil)
	must(t)(ws.Write(ctx, "a/b/x", []byte("x"), nil))
	put(t, ws, "a/y", "y")
	must(t)(ws.Undo(ctx, "", nil))
	if diff := cmp.Diff(map[string]string{"a": "drwxr-xr-x", "a/y": "-rw-r--r-- y"}, snapshot(t, ws.Dir())); diff != "" {
		t.Error(diff)
	}
}

// An undo makes a folder again that was removed since; undoing the undo removes it.
func TestUndoMakesFoldersAgain(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(*quarry.Workspace) (*change.Change, error)
	}{
		{"move", func(w *quarry.Workspace) (*change.Change, error) { return w.Move(ctx, "a/b/f", "f", nil) }},
		{"trash", func(w *quarry.Workspace) (*change.Change, error) {
			return w.Delete(ctx, "a/b/f", &change.DeleteOptions{Trash: change.TrashLocal})
		}},
		{"permanent", func(w *quarry.Workspace) (*change.Change, error) {
			return w.Delete(ctx, "a/b/f", &change.DeleteOptions{Trash: change.TrashNone})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ws := changeable(t, map[string]string{"a/b/f": "text\n"}, nil)
			ch := must(t)(c.do(ws))
			if err := os.RemoveAll(filepath.Join(ws.Dir(), "a")); err != nil {
				t.Fatal(err)
			}
			put(t, ws, "a", "a file")
			var conflict *change.UndoError
			if _, err := ws.Undo(ctx, ch.ID, nil); !errors.As(err, &conflict) || conflict.Paths[0].Path != "a" {
				t.Fatalf("with a file in the way: %v", err)
			}
			if err := os.Remove(filepath.Join(ws.Dir(), "a")); err != nil {
				t.Fatal(err)
			}
			undo := must(t)(ws.Undo(ctx, "", nil))
			if got := content(t, ws, "a/b/f"); got != "text\n" {
				t.Fatalf("the file is %q", got)
			}
			must(t)(ws.Undo(ctx, undo.ID, nil))
			if _, err := os.Lstat(filepath.Join(ws.Dir(), "a")); err == nil {
				t.Error("the folder the undo made is left")
			}
		})
	}
}

func TestUndoRefusesForeignChange(t *testing.T) {
	ws := changeable(t, map[string]string{"f.txt": "one\n"}, nil)
	c := must(t)(ws.Edit(ctx, "f.txt", []change.Edit{change.Edit{Old: "one", New: "two", Occurrence: change.First}}, nil))
	put(t, ws, "f.txt", "foreign\n")
	before := snapshot(t, ws.Dir())
	_, err := ws.Undo(ctx, c.ID, nil)
	var conflict *change.UndoError
	if !errors.As(err, &conflict) || conflict.Paths[0].Path != "f.txt" || fault.CodeOf(err) != fault.Conflict {
		t.Errorf("undo: %v", err)
	}
	if diff := cmp.Diff(before, snapshot(t, ws.Dir())); diff != "" {
		t.Error(diff)
	}
}

// Undoing an undo makes the first change again.
func TestRedo(t *testing.T) {
	ws := changeable(t, map[string]string{"f.txt": "one\n"}, nil)
	c := must(t)(ws.Edit(ctx, "f.txt", []change.Edit{change.Edit{Old: "one", New: "two", Occurrence: change.First}}, nil))
	u := must(t)(ws.Undo(ctx, c.ID, nil))
	if _, err := ws.Undo(ctx, c.ID, nil); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("a second undo: %v", err)
	}
	must(t)(ws.Undo(ctx, u.ID, nil))
	if got := content(t, ws, "f.txt"); got != "two\n" {
		t.Errorf("redo gave %q", got)
	}
	must(t)(ws.Undo(ctx, c.ID, nil))
	if got := content(t, ws, "f.txt"); got != "one\n" {
		t.Errorf("undo after redo gave %q", got)
	}
}

// modifyNote changes a note in the way the tools do.
func modifyNote(ws *quarry.Workspace, path string, e notes.Edit, o *change.Options) (*change.Change, error) {
	return notes.Modify(ctx, ws, path, e, func(op change.Op, summary string) (*change.Change, error) {
		var opts change.Options
		if o != nil {
			opts = *o
		}
		opts.Summary = summary
		return ws.Apply(ctx, opts.Set("note", op))
	})
}

func TestNotes(t *testing.T) {
	ws := changeable(t, map[string]string{
		"n.md": "---\ntags: a\n---\nbody\n", "open.md": "last", "crlf.md": "a\r\n",
	}, nil)
	c := must(t)(ws.Apply(ctx, change.Set{Ops: []change.Op{notes.Create(notes.New{Content: "# Meeting: plan\n"})}}))
	if c.Paths[0] != "Meeting- plan.md" {
		t.Errorf("named %q", c.Paths[0])
	}
	if _, err := ws.Apply(ctx, change.Set{Ops: []change.Op{notes.Create(notes.New{Path: "n"})}}); fault.CodeOf(err) != fault.AlreadyExists {
		t.Errorf("a note that exists: %v", err)
	}
	for _, c := range []struct {
		path string
		edit notes.Edit
		want string
	}{
		{"n.md", notes.Edit{Operation: notes.Prepend, Content: "top"}, "---\ntags: a\n---\ntop\nbody\n"},
		{"n.md", notes.Edit{Operation: notes.Append, Content: "end"}, "---\ntags: a\n---\ntop\nbody\nend"},
		{"n.md", notes.Edit{Operation: notes.Replace, Search: "body", Content: "text"}, "---\ntags: a\n---\ntop\ntext\nend"},
		{"open.md", notes.Edit{Operation: notes.Append, Content: "more"}, "last\nmore"},
		{"open.md", notes.Edit{Operation: notes.Append, Content: "\n\n## x"}, "last\nmore\n\n## x"},
		{"crlf.md", notes.Edit{Operation: notes.Append, Content: "b\nc"}, "a\r\nb\r\nc"},
	} {
		must(t)(modifyNote(ws, c.path, c.edit, nil))
		if got := content(t, ws, c.path); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.edit.Operation, c.path, got, c.want)
		}
	}
	for _, e := range []notes.Edit{{Operation: "shred"}, {Operation: notes.Replace}} {
		if _, err := modifyNote(ws, "n.md", e, nil); fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("%+v: %v", e, err)
		}
	}
}

func TestReadOnlyAndNoState(t *testing.T) {
	for _, c := range []struct {
		name string
		opts quarry.Options
	}{{"read-only", quarry.Options{ReadOnly: true, StateDir: t.TempDir()}}, {"no state folder", quarry.Options{}}} {
		t.Run(c.name, func(t *testing.T) {
			ws := workspace(t, map[string]string{"f": "a\n"}, &c.opts)
			_, edit := ws.Edit(ctx, "f", []change.Edit{change.Edit{Old: "a", New: "b", Occurrence: change.First}}, nil)
			_, write := ws.Write(ctx, "g", nil, nil)
			_, mkdir := ws.Mkdir(ctx, "d", nil)
			_, remove := ws.Delete(ctx, "f", nil)
			_, undo := ws.Undo(ctx, "", nil)
			for i, err := range []error{edit, write, mkdir, remove, undo} {
				if fault.CodeOf(err) != fault.ReadOnly {
					t.Errorf("call %d: %v", i, err)
				}
			}
		})
	}
}

func TestDiff(t *testing.T) {
	ws := changeable(t, map[string]string{"f.txt": "one\ntwo\n"}, nil)
	c := must(t)(ws.Edit(ctx, "f.txt", []change.Edit{change.Edit{Old: "two", New: "2", Occurrence: change.First}}, nil))
	must(t)(ws.Write(ctx, "f.txt", []byte("later\n"), nil))
	const want = "--- a/f.txt\n+++ b/f.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
	d := must(t)(ws.Diff(ctx, c.ID, nil))
	if c.Diff != want || d.Diff != want {
		t.Errorf("diff of the change:\n%s\nof the journal:\n%s", c.Diff, d.Diff)
	}
	if _, err := ws.Diff(ctx, "zzzzzzzz", nil); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("an unknown id: %v", err)
	}
	if _, err := ws.Diff(ctx, "?", nil); fault.CodeOf(err) != fault.InvalidArgument {
		t.Errorf("no id: %v", err)
	}
	log, err := ws.Changes(ctx, 1)
	if err != nil || len(log.Changes) != 1 || log.Changes[0].Summary != "overwrote f.txt (6 bytes)" {
		t.Errorf("log %+v, %v", log, err)
	}
}

// Concurrent edits of one file by one process wait for each other; none is lost.
func TestConcurrentEdits(t *testing.T) {
	ws := changeable(t, map[string]string{"n.md": ""}, nil)
	const workers, each = 8, 10
	fail := make(chan error, workers)
	for i := range workers {
		go func() {
			for k := range each {
				where := []notes.Operation{notes.Append, notes.Prepend}[k%2]
				if _, err := modifyNote(ws, "n.md", notes.Edit{Operation: where, Content: fmt.Sprintf("%d %d\n", i, k)}, nil); err != nil {
					fail <- err
					return
				}
				if _, err := ws.Write(ctx, fmt.Sprintf("d%d/e/%d", k, i), nil, nil); err != nil {
					fail <- err
					return
				}
			}
			fail <- nil
		}()
	}
	for range workers {
		if err := <-fail; err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Count(content(t, ws, "n.md"), "\n"); got != workers*each {
		t.Errorf("%d lines, want %d", got, workers*each)
	}
}

// A diff with AllLines has all lines. Without it, a diff has 2,000 lines and a note about
// the rest.
func TestDiffOfManyLines(t *testing.T) {
	before, after := "", ""
	for i := range 3000 {
		before, after = before+fmt.Sprintf("old %d\n", i), after+fmt.Sprintf("new %d\n", i)
	}
	ws := changeable(t, map[string]string{"a.txt": before}, nil)
	c := must(t)(ws.Write(t.Context(), "a.txt", []byte(after), nil))
	for _, all := range []bool{false, true} {
		d := must(t)(ws.Diff(t.Context(), c.ID, &change.Options{AllLines: all}))
		if n := strings.Count(d.Diff, "\n+new "); all != (n == 3000) || n < 500 {
			t.Errorf("all lines %v: %d of 3000", all, n)
		}
	}
}
