package render_test

import (
	"errors"
	"testing"

	"quarry/change"
	"quarry/internal/render"
)

func TestChanges(t *testing.T) {
	edit := func(e change.Outcome) *change.Change {
		return &change.Change{Paths: []string{"notes/log.md"}, Edits: []change.Outcome{e}}
	}
	for _, c := range []struct{ got, want string }{
		{render.Edited(edit(change.Outcome{Kind: "replace", Count: 1})), `Replaced 1 occurrence in "notes/log.md".`},
		{render.Edited(edit(change.Outcome{Kind: "replace", Count: 3})), `Replaced 3 occurrences in "notes/log.md".`},
		{render.Edited(edit(change.Outcome{Kind: "insert", Count: 5, Line: 42})), `Inserted 5 lines after line 42 in "notes/log.md".`},
		{render.Edited(edit(change.Outcome{Kind: "insert", Count: 1, Line: 9, Before: true})), `Inserted 1 line before line 10 in "notes/log.md".`},
		{render.Edited(edit(change.Outcome{Kind: "delete", Count: 6, Line: 5})), `Deleted lines 5-10 (6 lines) in "notes/log.md".`},
		{render.Edited(edit(change.Outcome{Kind: "delete", Count: 1, Line: 5})), `Deleted line 5 (1 line) in "notes/log.md".`},
		{render.Remaining(edit(change.Outcome{Remaining: 1, RemainingLines: []int{4}})), "1 other occurrence remains, on line 4."},
		{render.Remaining(edit(change.Outcome{})), ""},
		{render.Written(&change.Change{Paths: []string{"a"}, Created: true, Size: 156}), `Created file "a" (156 bytes).`},
		{render.Written(&change.Change{Paths: []string{"notes/draft.md"}, Size: 2355}), `Overwrote file "notes/draft.md" (2.3 KB).`},
		{render.Deleted(&change.Change{Paths: []string{"a b"}, Trash: &change.TrashReport{Kind: change.TrashLocal}}), "Deleted 'a b' to trash."},
		{render.Deleted(&change.Change{Paths: []string{"x"}, Trash: &change.TrashReport{Kind: change.TrashNone}}), "Deleted 'x' permanently."},
		{render.Links(&change.Change{Links: &change.LinkReport{Updated: 2, Files: []string{"a"}, Broken: 1, BrokenIn: []string{"b"}}}),
			"Updated 2 links in 1 file. 1 link in 1 file no longer points to the file."},
	} {
		if c.got != c.want {
			t.Errorf("got  %s\nwant %s", c.got, c.want)
		}
	}
}

// A name can't forge a line or control a terminal.
func TestQuote(t *testing.T) {
	for in, want := range map[string]string{
		"a b.md":     `"a b.md"`,
		`say "x"`:    `"say "x""`,
		"a\nError":   `"a\nError"`,
		"\x1b[2J":    `"\x1b[2J"`,
		"\xff":       `"\xff"`,
		"a\u202eb":   `"a\u202eb"`,
		"日本 Käse.md": `"日本 Käse.md"`,
	} {
		if got := render.Quote(in); got != want {
			t.Errorf("Quote(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		action render.Action
		err    error
		want   string
	}{
		{render.Editing, &change.NotFoundError{Old: "foo"}, "Text 'foo' not found in notes.md"},
		{render.Editing, &change.LineError{Line: 50, Count: 30}, "Line 50 does not exist in file with 30 lines."},
		{render.Moving, &change.MoveError{Source: true, Path: "a", Err: errors.New("odd")}, "source: odd"},
		{render.Undoing, errors.New("it failed"), "It failed"},
		{render.Undoing, errors.New("a.txt: it failed"), "a.txt: it failed"},
	} {
		if got := render.Error(c.action, "notes.md", c.err); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}
