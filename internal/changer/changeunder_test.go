package changer_test

import (
	"runtime"
	"strings"
	"testing"

	"quarry"
	"quarry/change"
)

// TestChangeUnder changes files whose names are words used in summaries. Each path must
// get the folder's prefix, and nothing else.
func TestChangeUnder(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	for _, name := range []string{"created", "2", "line", "in", "a in a", "to", "a,b"} {
		putFile(t, dir+"/"+name, "one\ntwo\n")
	}
	ws, err := quarry.Open(dir, &quarry.Options{StateDir: t.TempDir(), Trash: change.TrashNone})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	edit := func(e change.Edit, more ...change.Edit) func(string) (*change.Change, error) {
		return func(p string) (*change.Change, error) { return ws.Edit(ctx, p, append(more, e), nil) }
	}
	replace := edit(change.Edit{Old: "one", New: "1", Occurrence: change.First})
	write := func(p string) (*change.Change, error) { return ws.Write(ctx, p, []byte("x\n"), nil) }
	mkdir := func(p string) (*change.Change, error) { return ws.Mkdir(ctx, p, nil) }
	remove := func(p string) (*change.Change, error) { return ws.Delete(ctx, p, nil) }
	move := func(to string) func(string) (*change.Change, error) {
		return func(p string) (*change.Change, error) { return ws.Move(ctx, p, to, nil) }
	}
	for _, x := range []struct {
		do         func(string) (*change.Change, error)
		path, want string
	}{
		{write, "created", "overwrote r/s/created (2 bytes)"},
		{write, "folder x", "created r/s/folder x (2 bytes)"},
		{mkdir, "folder", "created folder r/s/folder"},
		{write, "od\td", `created "r/s/od\td" (2 bytes)`},
		{replace, "in", "replaced 1 occurrence in r/s/in"},
		{edit(change.Edit{Verb: change.ReplaceLines, First: 1, Last: 1, New: "x\ny"}), "in", "1 edit in r/s/in"},
		{edit(change.Edit{Verb: change.ApplyHunk, First: 1, Hunk: "-one\n+x\n+y\n"}), "2", "1 edit in r/s/2"},
		{edit(change.Edit{Verb: change.DeleteLines, First: 1, Last: 1}), "2", "deleted 1 line from line 1 in r/s/2"},
		{edit(change.Edit{Verb: change.InsertAfter, First: 1, New: "x"}), "line", "inserted 1 line after line 1 in r/s/line"},
		{edit(change.Edit{Old: "two", New: "2", Occurrence: change.First}, change.Edit{Old: "one", New: "1", Occurrence: change.First}), "to", "2 edits in r/s/to"},
		{move("in to"), "to", "moved r/s/to to r/s/in to"},
		{move("a to b"), "a,b", "moved r/s/a,b to r/s/a to b"},
		{remove, "a in a", "deleted r/s/a in a"},
		{remove, "folder", "deleted r/s/folder"},
	} {
		if runtime.GOOS == "windows" && strings.Contains(x.path, "\t") {
			continue // file names there can't contain a tab
		}
		c, err := x.do(x.path)
		if err != nil {
			t.Fatalf("%s: %v", x.path, err)
		}
		if got := c.Under("r/s"); got.Summary != x.want || got.Paths[0] != "r/s/"+x.path || got.ID != "r/s/"+c.ID {
			t.Errorf("%q under r/s: %q of %q, id %s; want %q", c.Summary, got.Summary, got.Paths, got.ID, x.want)
		}
		undo, err := ws.Undo(ctx, c.ID, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := undo.Under("r/s"); got.Summary != "undo r/s/"+c.ID+": "+x.want {
			t.Errorf("%q under r/s: %q", undo.Summary, got.Summary)
		}
		redo, err := ws.Undo(ctx, undo.ID, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := redo.Under("r/s"); got.Summary != "undo r/s/"+undo.ID+": undo r/s/"+c.ID+": "+x.want {
			t.Errorf("%q under r/s: %q", redo.Summary, got.Summary)
		}
	}
	if c := (&change.Change{Summary: " in x", Paths: []string{"x"}}).Under("r"); c.Summary != " in x" {
		t.Errorf("no sentence of ours: %q", c.Summary)
	}
}
