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

// numbers writes the lines of an answer as "path:1,2*,3" with a star at matches.
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

// marked returns a text of n lines with an x on the given ones.
func marked(n int, at ...int) string {
	lines := make([]string, n)
	for _, i := range at {
		lines[i-1] = "x"
	}
	return strings.Join(lines, "\n") + "\n"
}

func TestBlocks(t *testing.T) {
	ws := workspace(t, map[string]string{
		"a": marked(12, 2, 5, 9),     // 2 and 5 share a block, 9 is another
		"b": marked(20, 1, 6, 11),    // three
		"c": marked(6, 1, 2, 3, 4),   // one
		"d": "nothing of the kind\n", // none
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

// Gitignore patterns given by the caller exclude files and folders; hidden files stay
// hidden.
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
	// Without either pattern, only hidden files are omitted.
	r, err = ws.Search(ctx, search.Query{Pattern: "x", Detail: search.Files})
	if err != nil || len(r.Files) != 5 {
		t.Errorf("plain: %v %v", r, err)
	}
}

// A large file that is only counted is read in the parts that could match, according to
// the index. A block that spans several parts is counted once.
func TestBlocksAreCountedByParts(t *testing.T) {
	stress.SkipWine(t, "whole workspaces")
	row := strings.Repeat("row upon row ", 20) + "\n"
	wide := strings.Repeat("wide ", 8000) + "\n" // more than a block of the index
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
