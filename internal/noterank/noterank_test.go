package noterank

import (
	"context"
	"slices"
	"testing"
)

// order ranks notes given as path and text, best first, from a vault of 100.
func order(q *Query, notes ...string) []string {
	var docs []*Doc
	var paths []string
	for i := 0; i+1 < len(notes); i += 2 {
		if d, ok := q.Count(context.Background(), notes[i], []byte(notes[i+1])); ok {
			docs, paths = append(docs, d), append(paths, notes[i])
		}
	}
	return ranked(q, paths, docs, 100)
}

func TestOrder(t *testing.T) {
	filler := "one two three four five six seven eight nine ten "
	for _, c := range []struct {
		name, query string
		notes, want []string
	}{
		{"the name counts", "garden plan", []string{"a.md", "garden plan garden plan " + filler, "Garden plan.md", filler}, []string{"Garden plan.md", "a.md"}},
		{"an alias counts", "allotment", []string{"a.md", filler + "allotment", "b.md", "---\naliases: [Allotment]\n---\n" + filler}, []string{"b.md", "a.md"}},
		{"a heading counts", "compost", []string{"a.md", filler + "compost", "b.md", "## Compost\n" + filler}, []string{"b.md", "a.md"}},
		{"the rare word counts", "the rare plan", []string{"a.md", "plan plan", "b.md", "rare", "c.md", "plan", "d.md", "plan"}, []string{"b.md", "a.md", "c.md", "d.md"}},
		{"other forms", "planting trees", []string{"a.md", "I planted a tree", "b.md", "nothing"}, []string{"a.md"}},
		{"accents and case", "RESUME café", []string{"a.md", "my résumé in the Cafe", "b.md", "x"}, []string{"a.md"}},
		{"a word may be missing", "garden zebra", []string{"a.md", "garden", "b.md", "x"}, []string{"a.md"}},
		{"neighbours count", "red apple", []string{"a.md", "red and also some other apple", "b.md", "some other and also red apple"}, []string{"b.md", "a.md"}},
		{"a folder's page is called like it", "storage", []string{"docs/storage/_index.md", filler, "a.md", filler + "storage"}, []string{"docs/storage/_index.md", "a.md"}},
	} {
		if got := order(New(c.query), c.notes...); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q gives %q, want %q", c.name, c.query, got, c.want)
		}
	}
	if New(" , ") != nil {
		t.Error("a query without words")
	}
	if got := order(Strict([]string{"plan"}), "a.md", "airplanes planned", "b.md", "none", "Plan.md", "x"); !slices.Equal(got, []string{"Plan.md", "a.md"}) {
		t.Errorf("strict: %q", got)
	}
}
