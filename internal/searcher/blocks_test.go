package searcher_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"quarry"
	"quarry/internal/notebook"
	"quarry/internal/stress"
	"quarry/match"
	"quarry/search"
)

// numbers formats an answer as "path:1,2*,3". Matching lines have a star.
func numbers(files []search.FileMatch) string {
	var b strings.Builder
	for _, f := range files {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(f.Path + ":")
		for i, l := range f.Lines {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprint(&b, l.Number)
			if l.Hit {
				b.WriteByte('*')
			}
		}
	}
	return b.String()
}

// marked returns a text of n lines, where the lines at contain an x.
func marked(n int, at ...int) string {
	lines := make([]string, n)
	for _, i := range at {
		lines[i-1] = "x"
	}
	return strings.Join(lines, "\n") + "\n"
}

func TestBlocks(t *testing.T) {
	ws := workspace(t, map[string]string{
		"a": marked(12, 2, 5, 9),     // two blocks: 2 and 5, 9
		"b": marked(20, 1, 6, 11),    // three blocks
		"c": marked(6, 1, 2, 3, 4),   // one block
		"d": "nothing of the kind\n", // no block
	}, nil)
	for _, c := range []struct {
		name          string
		limit, offset int
		countTo       int
		want          string
		total         int
		stopped       search.Stop
		exact         bool
	}{
		{"all", 100, 0, 0, "a:1,2*,3,4,5*,6,8,9*,10 b:1*,2,5,6*,7,10,11*,12 c:1*,2*,3*,4*,5", 6, "", true},
		{"just enough", 6, 0, 0, "a:1,2*,3,4,5*,6,8,9*,10 b:1*,2,5,6*,7,10,11*,12 c:1*,2*,3*,4*,5", 6, "", true},
		{"cut in a file, counted to the end", 3, 0, math.MaxInt, "a:1,2*,3,4,5*,6,8,9*,10 b:1*,2", 6, search.StopBlocks, true},
		{"cut between files", 2, 0, math.MaxInt, "a:1,2*,3,4,5*,6,8,9*,10", 6, search.StopBlocks, true},
		{"cut, counted in part", 1, 0, 4, "a:1,2*,3,4,5*,6", 5, search.StopBlocks, false},
		{"offset in a file", 2, 1, math.MaxInt, "a:8,9*,10 b:1*,2", 6, search.StopBlocks, true},
		{"offset past a file", 2, 3, math.MaxInt, "b:5,6*,7,10,11*,12", 6, search.StopBlocks, true},
		{"offset past all", 2, 6, math.MaxInt, "", 6, "", true},
	} {
		r, err := ws.Search(context.Background(), search.Query{
			Pattern: "x", Before: 1, After: 1, Offset: c.offset, Match: match.Options{WholeLine: true},
			Limits: search.Limits{Blocks: c.limit, CountTo: c.countTo},
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := numbers(r.Files); got != c.want || r.Blocks != c.total || r.Stopped != c.stopped || r.Exact != c.exact {
			t.Errorf("%s: %q, %d blocks, stopped %q, exact %v\nwant %q, %d, %q, %v", c.name, got, r.Blocks, r.Stopped, r.Exact, c.want, c.total, c.stopped, c.exact)
		}
	}
}

// Gitignore patterns given by the caller exclude files and folders. They can't include
// hidden files.
func TestExtraRules(t *testing.T) {
	ws := workspace(t, map[string]string{
		".gitignore":     "!.shown\n",
		"archive/old.md": "x\n",
		"Notes/a.md":     "x\n",
		"Notes/a.tmp.md": "x\n",
		".shown/b.md":    "x\n",
		"Archived.md":    "x\n",
	}, nil)
	ctx := context.Background()
	scope := search.Scope{Extra: []string{"/archive/", "*.tmp.md"}, StrictHidden: true}
	r, err := ws.Search(ctx, search.Query{Pattern: "x", Scope: scope, Detail: search.Files})
	if err != nil {
		t.Fatal(err)
	}
	if got := numbers(r.Files); got != "Archived.md: Notes/a.md:" {
		t.Errorf("search: %q", got)
	}
	found, err := ws.Find(ctx, search.FindQuery{Scope: scope, Kind: search.FilesAndFolders})
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, e := range found.Entries {
		paths = append(paths, e.Path)
	}
	if got := strings.Join(paths, " "); got != "Archived.md Notes Notes/a.md" {
		t.Errorf("find: %q", got)
	}
	notes, err := notebook.Open(ws).Search(ctx, notebook.Query{Query: "x", Scope: scope})
	if err != nil {
		t.Fatal(err)
	}
	if notes.Total != 2 {
		t.Errorf("notes: %+v", notes.Notes)
	}
	// Without extra patterns, only hidden files are omitted.
	r, err = ws.Search(ctx, search.Query{Pattern: "x", Detail: search.Files})
	if err != nil || len(r.Files) != 5 {
		t.Errorf("plain: %v %v", r, err)
	}
}

// For counting, only the parts of a large file that may match are read, according to the
// index. A block that spans several parts is counted once.
func TestBlocksAreCountedByParts(t *testing.T) {
	stress.SkipWine(t, "whole workspaces")
	row := strings.Repeat("row upon row ", 20) + "\n"
	wide := strings.Repeat("wide ", 8000) + "\n" // more than one block of the index
	rows := strings.Repeat(row, 200)
	ws := workspace(t, map[string]string{
		"a": strings.Repeat("needle\n", 9),
		"b": rows + "needle\n" + wide + "needle\n" + rows + "needle\n" + rows + "needle\n",
		"c": rows + "needle\n" + wide + wide + wide + wide + "needle\n" + rows,
		"d": rows + "needle\n" + rows,
	}, &quarry.Options{Index: &quarry.IndexOptions{Dir: t.TempDir()}})
	if err := ws.Index().Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, around := range []int{0, 1, 2} {
		q := search.Query{Pattern: "needle", Before: around, After: around, Limits: search.Limits{Blocks: 1, CountTo: math.MaxInt}}
		got, err := ws.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		q.NoIndex = true
		want, err := ws.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if !got.Stats.Plan.Indexed() || got.Blocks != want.Blocks || got.LinesMatched != want.LinesMatched {
			t.Errorf("context %d: %d blocks and %d lines by %s; a scan has %d and %d", around, got.Blocks, got.LinesMatched, got.Stats.Plan.Kind, want.Blocks, want.LinesMatched)
		}
		if around == 1 && got.Stats.Bytes >= want.Stats.Bytes {
			t.Errorf("all of %d bytes were read to count", want.Stats.Bytes)
		}
	}
}
