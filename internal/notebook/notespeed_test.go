package notebook_test

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"quarry"
	"quarry/internal/notebook"
	"quarry/internal/stress"
	"quarry/search"
)

// TestNotesIndexedSpeed measures the figures in docs/FIGURES.md: the processor time of
// queries about all notes, with a warm index and by a scan. QUARRY_NOTES_CORPUS is a folder
// of notes; without it, notes are generated.
func TestNotesIndexedSpeed(t *testing.T) {
	stress.SkipTiny(t)
	ctx := t.Context()
	dir := os.Getenv("QUARRY_NOTES_CORPUS")
	if dir == "" {
		dir = bigVault(t, stress.Size(1_000, 10_000))
		if err := os.WriteFile(filepath.Join(dir, "Measure.base"), []byte(measureBase), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	scan, err := quarry.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer scan.Close()
	ws, err := quarry.Open(dir, &quarry.Options{Index: &quarry.IndexOptions{Dir: t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	if err := ws.Index().Wait(ctx); err != nil {
		t.Skip("no index here:", err)
	}
	st, err := ws.Index().Status(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d files, %d bytes of text, %.1f %% in the index", st.Files, st.TextBytes, 100*float64(st.DiskBytes)/float64(st.TextBytes))
	words, paths := sampleNotes(t, ctx, scan)
	r := rand.New(rand.NewPCG(1, 2))
	query := func(words string) func(*notebook.Book) (int, error) {
		return func(b *notebook.Book) (int, error) {
			res, err := b.Search(ctx, notebook.Query{Query: words, Loose: true, Scope: search.Scope{Globs: []string{"**/*.md"}, Dialect: search.Plain}})
			if err != nil {
				return 0, err
			}
			return res.Total, nil
		}
	}
	few := func(n int) string {
		var w []string
		for range n {
			w = append(w, words[r.IntN(len(words))])
		}
		return strings.Join(w, " ")
	}
	tag := ""
	if tags, err := notebook.Open(ws).Tags(ctx, ""); err == nil && len(tags) > 0 {
		tag = tags[0].Name
	}
	table := func(q notebook.TableQuery) func() func(*notebook.Book) (int, error) {
		return func() func(*notebook.Book) (int, error) {
			return func(b *notebook.Book) (int, error) {
				t, err := b.Table(ctx, q)
				if err != nil {
					return 0, err
				}
				return len(t.Rows), nil
			}
		}
	}
	filter := func(filters ...string) func() func(*notebook.Book) (int, error) {
		return func() func(*notebook.Book) (int, error) { return query(filters[r.IntN(len(filters))]) }
	}
	kinds := []struct {
		name string
		make func() func(*notebook.Book) (int, error)
	}{
		{"search_notes, one word", func() func(*notebook.Book) (int, error) { return query(few(1)) }},
		{"search_notes, three words", func() func(*notebook.Book) (int, error) { return query(few(3)) }},
		{"search_notes, ten words", func() func(*notebook.Book) (int, error) { return query(few(10)) }},
		{"search_notes, a tag", func() func(*notebook.Book) (int, error) { return query("tag:" + tag) }},
		{"filters, properties", filter("property:rating>=3 property:status=s1", "property:due<2026-05 -property:status=s2", "property:author contains 00007", "has:size property:size>8")},
		{"filters, the others", filter("path:Area heading:note -tag:"+tag, "(task:todo OR task:due<2026-03) has:links", "task:done has:tags")},
		{"filter link:", filter(`link:"`+paths[0]+`"`, `link:"`+paths[len(paths)/2]+`"`)},
		{"filter modified:", filter("modified:7d", "modified:<2020")},
		{"table of all notes", table(notebook.TableQuery{Query: "path:.md", Columns: []string{"rating", "status", "due", "tags", "tasks"}, Sort: []string{"-due", "rating"}, Group: "status"})},
		{"tasks", func() func(*notebook.Book) (int, error) {
			return func(b *notebook.Book) (int, error) {
				list, err := b.Tasks(ctx, "task:todo task:due<2026-04 tag:"+tag)
				return len(list), err
			}
		}},
		{"base, sorted and grouped", table(notebook.TableQuery{Query: "base:Measure"})},
		{"base, its second view", table(notebook.TableQuery{Query: "base:Measure.base#Links"})},
		{"tags", func() func(*notebook.Book) (int, error) {
			return func(b *notebook.Book) (int, error) { list, err := b.Tags(ctx, ""); return len(list), err }
		}},
		{"properties", func() func(*notebook.Book) (int, error) {
			return func(b *notebook.Book) (int, error) { list, err := b.PropertyNames(ctx); return len(list), err }
		}},
		{"backlinks", func() func(*notebook.Book) (int, error) {
			path := paths[r.IntN(len(paths))]
			return func(b *notebook.Book) (int, error) {
				list, err := b.Backlinks(ctx, path)
				if err == nil {
					err = b.Place(ctx, list[:min(len(list), 64)])
				}
				return len(list), err
			}
		}},
		{"unresolved", func() func(*notebook.Book) (int, error) {
			return func(b *notebook.Book) (int, error) {
				list, err := b.Unresolved(ctx, "")
				if err == nil {
					err = b.Place(ctx, list[:min(len(list), 64)])
				}
				return len(list), err
			}
		}},
		{"orphans", func() func(*notebook.Book) (int, error) {
			return func(b *notebook.Book) (int, error) { list, err := b.Orphans(ctx); return len(list), err }
		}},
	}
	for _, k := range kinds {
		var took []time.Duration
		found, slow := 0, time.Duration(0)
		for i := range 30 {
			ask := k.make()
			start := stress.CPU()
			n, err := ask(notebook.Open(ws))
			if err != nil {
				t.Fatalf("%s: %v", k.name, err)
			}
			took = append(took, stress.CPU()-start)
			if n > 0 {
				found++
			}
			if i == 0 {
				start := stress.CPU()
				if _, err := ask(notebook.Open(scan)); err != nil {
					t.Fatal(err)
				}
				slow = stress.CPU() - start
			}
		}
		slices.Sort(took)
		t.Logf("%-26s %3d of %d with results: median %v, worst %v; by a scan %v", k.name, found, len(took), took[len(took)/2].Round(10*time.Microsecond), took[len(took)-1].Round(10*time.Microsecond), slow.Round(time.Millisecond))
		if took[len(took)/2] > slow {
			t.Errorf("%s takes longer by the index than by a scan", k.name)
		}
	}
}

const measureBase = `filters: {or: [rating >= 2, 'status == "s1"', 'file.hasTag("t5")']}
views:
  - {type: table, name: All, order: [file.name, rating, status, due, file.tags], sort: [{property: due, direction: DESC}, {property: rating, direction: ASC}], groupBy: {property: status, direction: ASC}}
  - {type: table, name: Links, filters: {and: ['author == link("Topic 00007")', 'due > date("2026-03-01")']}, order: [author, file.links, file.mtime]}
`

// sampleNotes returns some words and paths of notes.
func sampleNotes(t *testing.T, ctx context.Context, ws *quarry.Workspace) (words, paths []string) {
	t.Helper()
	r, err := ws.Find(ctx, search.FindQuery{Scope: search.Scope{Globs: []string{"**/*.md"}, Dialect: search.Plain}})
	if err != nil || len(r.Entries) == 0 {
		t.Fatal("no notes:", err)
	}
	for i := 0; i < len(r.Entries); i += max(1, len(r.Entries)/200) {
		paths = append(paths, r.Entries[i].Path)
		text, err := os.ReadFile(filepath.Join(ws.Dir(), r.Entries[i].Path))
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range strings.Fields(string(text)) {
			if w = strings.Trim(w, ".,;:()[]{}#*`\"'!|"); len(w) > 2 && strings.Trim(strings.ToLower(w), "abcdefghijklmnopqrstuvwxyz") == "" {
				words = append(words, w)
			}
		}
	}
	return words, paths
}
