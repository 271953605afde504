package searcher_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/notebook"
	"quarry/search"
)

func TestSearchCode(t *testing.T) {
	ws := workspace(t, map[string]string{
		"store/open.go":      "package store\n\n// OpenFile opens.\nfunc OpenFile(name string) error {\n\treturn nil\n}\n",
		"main.go":            "package main\n\nfunc main() {\n\tstore.OpenFile(\"x\")\n}\n",
		"vendor/x/open.go":   "package x\n\nfunc OpenFile() {}\n",
		"store/open_test.go": "package store\n\nfunc TestOpenFile() { OpenFile() }\n",
		"other.go":           "package other\n",
		"bin":                "open file\x00",
	}, nil)
	r, err := ws.SearchCode(context.Background(), search.CodeQuery{Query: "open file", Limit: 3})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range r.Chunks {
		got = append(got, c.Path)
		if c.Score <= 0 || c.Symbol == "" || !strings.Contains(strings.ToLower(c.Text), "openfile") {
			t.Errorf("%+v", c)
		}
	}
	if len(got) != 3 || got[0] != "store/open.go" || got[1] != "main.go" {
		t.Errorf("order %v, want store/open.go, main.go and then a test or vendored file", got)
	}
	if r.Total != 4 || r.Stopped != search.StopLines || r.SkippedCount[search.Binary] != 1 || r.Stats.Searched != 5 {
		t.Errorf("%+v", r.Summary)
	}
	if _, err := ws.SearchCode(context.Background(), search.CodeQuery{Query: " "}); !errors.Is(err, search.ErrNoWords) {
		t.Errorf("no words: %v", err)
	}
}

func TestSearchNotes(t *testing.T) {
	ws := workspace(t, map[string]string{
		"Plans/Timeline.md": "# Timeline\n\nThe project ends in May.\n",
		"a.md":              "project timeline, project timeline\n",
		"b.md":              strings.Repeat("x ", 200) + "Project TIMELINE" + strings.Repeat(" y", 200) + "\n",
		"c.md":              "only the project\n",
		"d.txt":             "project timeline\n",
	}, nil)
	q := notebook.Query{Query: "project timeline", Scope: search.Scope{Globs: []string{"*.md"}}}
	r, err := notebook.Open(ws).Search(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, n := range r.Notes {
		got = append(got, n.Path)
	}
	if diff := cmp.Diff([]string{"Plans/Timeline.md", "a.md", "b.md"}, got); diff != "" {
		t.Error(diff)
	}
	if e := r.Notes[1].Excerpts; len(e) != 1 || e[0] != "project timeline, project timeline" {
		t.Errorf("excerpts %q", e)
	}
	if e := r.Notes[2].Excerpts; len(e) != 1 || !strings.HasPrefix(e[0], "...x") || !strings.HasSuffix(e[0], "y...") || !strings.Contains(e[0], "Project TIMELINE") {
		t.Errorf("excerpts %q", e)
	}
	q.Content, q.MaxContent = true, 12
	if r, err = notebook.Open(ws).Search(context.Background(), q); err != nil || r.Notes[0].Content != "# Timeline\n\n" || !r.Notes[0].ContentCut {
		t.Errorf("%+v %v", r, err)
	}
}
