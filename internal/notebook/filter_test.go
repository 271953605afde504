package notebook

import (
	"errors"
	"slices"
	"testing"

	"quarry/fault"
	"quarry/search"
)

func TestNoteFilters(t *testing.T) {
	notes := map[string]string{
		"Projects/a.md": "---\ntags: [work/x]\nstatus: Done\ndue: 2024-01-02\n---\n# Log\nplan\n",
		"b.md":          "---\nstatus: [open, in progress]\n---\n#work plan\n",
		"c.md":          "plan\n",
	}
	for _, c := range []struct {
		query string
		want  []string
	}{
		{"plan", []string{"Projects/a.md", "b.md", "c.md"}},
		{"tag:work plan", []string{"Projects/a.md", "b.md"}},
		{"tag:#work/x", []string{"Projects/a.md"}},
		{"property:status", []string{"Projects/a.md", "b.md"}},
		{"property:status=done plan", []string{"Projects/a.md"}},
		{`property:"status=in progress"`, []string{"b.md"}},
		{"property:due=2024-01-02", []string{"Projects/a.md"}},
		{"path:projects/ plan", []string{"Projects/a.md"}},
		{"heading:log", []string{"Projects/a.md"}},
		{"tag:work heading:nope", nil},
		{"-tag:work plan", []string{"c.md"}},
		{"tag:work -heading:log", []string{"b.md"}},
		{"-plan", []string{"Projects/a.md", "b.md", "c.md"}},
		{"other: plan", []string{"Projects/a.md", "b.md", "c.md"}},
	} {
		s, err := newNoteSearch(&Query{Query: c.query, Loose: true})
		if err != nil {
			t.Errorf("%s: %v", c.query, err)
			continue
		}
		var got []string
		for _, p := range []string{"Projects/a.md", "b.md", "c.md"} {
			if s.note(t.Context(), p, []byte(notes[p])) != nil {
				got = append(got, p)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.query, got, c.want)
		}
	}
	for _, bad := range []string{"tag:", "tag:a.b", "property:", " "} {
		if _, err := newNoteSearch(&Query{Query: bad, Loose: true}); err == nil || fault.CodeOf(err) != fault.InvalidArgument && !errors.Is(err, search.ErrNoWords) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
