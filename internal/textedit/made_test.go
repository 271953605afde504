package textedit

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/textfile"
)

func applyHunks(t *testing.T, text string, edits ...change.Edit) (string, error) {
	t.Helper()
	d, err := textfile.New([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	c, err := Apply(d, edits...)
	if err != nil {
		return text, err
	}
	return string(c.Bytes()), nil
}

// A hunk that was already applied is refused, in any form and regardless of where its
// context is.
func TestHunkMadeAlready(t *testing.T) {
	const file = "one two three\nfour five six\nseven eight\n"
	for _, c := range []struct {
		name string
		e    change.Edit
	}{
		{"after context at the end, a plain diff", change.Edit{Hunk: " one two three\n four five six\n seven eight\n+nine\n+ten\n", First: 1, AtEnd: true, Stated: true}},
		{"after context at the end, a git diff", change.Edit{Hunk: " one two three\n four five six\n seven eight\n+nine\n+ten\n", First: 1, AtEnd: true}},
		{"after context, Codex", change.Edit{Hunk: " four five six\n seven eight\n+nine\n", Loose: true, Lenient: true}},
		{"after context, Codex at the end", change.Edit{Hunk: " seven eight\n+nine\n", Loose: true, AtEnd: true, Lenient: true}},
		{"after context, bare", change.Edit{Hunk: " one two three\n+nine\n", Loose: true}},
		{"before context", change.Edit{Hunk: "+zero\n one two three\n four five six\n seven eight\n", First: 1, AtStart: true, Stated: true}},
		{"before context, bare", change.Edit{Hunk: "+zero\n four five six\n", Loose: true}},
		{"search and replace", change.Edit{Hunk: "-four five six\n+four five six\n+nine\n", Loose: true}},
		{"search and replace around", change.Edit{Hunk: "-four five six\n+x\n+four five six\n+nine\n", Loose: true}},
		{"between context", change.Edit{Hunk: " one two three\n+nine\n four five six\n seven eight\n", First: 1}},
		{"a replaced line", change.Edit{Hunk: " one two three\n-four five six\n+nine\n seven eight\n", First: 1, Stated: true}},
		{"a removed line", change.Edit{Hunk: " one two three\n-four five six\n seven eight\n", First: 1}},
		{"without context at the end", change.Edit{Hunk: "+nine\n", Loose: true}},
	} {
		for _, eol := range []string{"\n", "\r\n"} {
			c.e.Verb = change.ApplyHunk
			before := strings.ReplaceAll(file, "\n", eol)
			once, err := applyHunks(t, before, c.e)
			if err != nil || once == before {
				t.Errorf("%s: %q, %v", c.name, once, err)
				continue
			}
			twice, err := applyHunks(t, once, c.e)
			if _, ok := errors.AsType[*change.AlreadyError](err); !ok {
				t.Errorf("%s, again: %q, %v", c.name, twice, err)
			}
		}
	}
	// The hunk was applied at its line; a copy of the old lines is elsewhere.
	const old, made = "a a a\nb b b\nc c c\n", "a a a\nB\nc c c\n"
	e := change.Edit{Verb: change.ApplyHunk, Hunk: " a a a\n-b b b\n+B\n c c c\n", First: 1, Stated: true}
	if got, err := applyHunks(t, made+"x\n"+old, e); err == nil {
		t.Errorf("made in a copy: %q", got)
	}
	// The hunk's place has changed in one line; a copy of the old lines is elsewhere.
	if got, err := applyHunks(t, "a a a\nb b b\nC\nx\n"+old, e); err == nil {
		t.Errorf("a changed place: %q", got)
	}
	// If the file is the version that the patch was made for, its lines may repeat.
	if got, err := applyHunks(t, "a\na\na\n", change.Edit{Verb: change.ApplyHunk, Hunk: " a\n a\n+a\n", First: 1, Certain: true}); err != nil || got != "a\na\na\na\n" {
		t.Errorf("%q, %v", got, err)
	}
}

// Many hunks are located as exactly as few, and hunks of common lines are refused in a short time.
func TestManyHunks(t *testing.T) {
	var file strings.Builder
	var edits []change.Edit
	const n = 5000
	for i := range n {
		fmt.Fprintf(&file, "{\n\tkey %d\n}\n\n", i)
		edits = append(edits, change.Edit{Verb: change.ApplyHunk, Hunk: fmt.Sprintf(" {\n-\tkey %d\n+\tvalue %d\n }\n \n", i, i), Loose: true})
	}
	got, err := applyHunks(t, file.String(), edits...)
	if want := strings.ReplaceAll(file.String(), "key", "value"); err != nil || got != want {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
	// To find out that a hunk is ambiguous, its lines are compared with nearly all lines of the file.
	common := strings.Repeat("}\n", 30_000) + "x\n}\nx\n"
	for i := range edits {
		edits[i].Hunk = fmt.Sprintf(" }\n-x\n+%d\n", i)
	}
	_, err = applyHunks(t, common, edits...)
	if _, ok := errors.AsType[*change.AmbiguousError](err); !ok {
		t.Errorf("by their rarest line: %.200v", err)
	}
	for i := range edits {
		edits[i].Hunk = fmt.Sprintf(" }\n }\n-{\n-{\n+%d\n", i)
	}
	_, err = applyHunks(t, strings.Repeat("}\n{\n", 30_000)+"}\n}\n{\n{\n}\n}\n{\n{\n", edits...)
	if !errors.Is(err, fault.TooLarge) {
		t.Errorf("common lines alone: %.200v", err)
	}
}
