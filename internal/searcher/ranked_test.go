package searcher_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry"
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

// A prototype found by its name or comment is replaced by the definition, with and
// without an index; a declaration without a definition remains.
func TestPrototypesAreReplaced(t *testing.T) {
	files := map[string]string{
		"include/lock.h": "#ifndef LOCK_WAIT_H\n#define LOCK_WAIT_H\n\n/* Waits for a contended lock. */\nint wait_lock(struct lock *l);\n\n/* Asks the firmware about thermal zones. */\nint ask_firmware(void);\n#endif /* LOCK_WAIT_H */\n",
		"src/lock.c":     "#include \"lock.h\"\n\nint wait_lock(struct lock *l)\n{\n\treturn spin(l);\n}\n",
		"tests/fake.c":   "int wait_lock(struct lock *l)\n{\n\treturn 0;\n}\n",
		"tools/lock.py":  "def wait_lock(l):\n    pass\n",
		"src/table.h":    "namespace db {\nclass Table {\n public:\n  // Seeks the smallest remaining key.\n  Status Seek(const Slice& key);\n};\n}\n",
		"src/table.cc":   "namespace db {\nStatus Other::Seek(const Slice& key) {\n  return Fail();\n}\n\nStatus Table::Seek(const Slice& key) {\n  return Find(key);\n}\n}\n",
	}
	for _, with := range []*quarry.Options{nil, {Index: &quarry.IndexOptions{Dir: t.TempDir()}}} {
		ws := workspace(t, files, with)
		for query, want := range map[string]string{
			"contended lock":         "src/lock.c:3-6 function wait_lock",
			"wait_lock":              "src/lock.c:3-6 function wait_lock",
			"smallest remaining key": "src/table.cc:6-8 method db.Table.Seek",
			"firmware thermal zones": "include/lock.h:7-8 prototype ask_firmware",
		} {
			r, err := ws.SearchCode(context.Background(), search.CodeQuery{Query: query})
			if err != nil {
				t.Fatal(err)
			}
			for i, c := range r.Chunks {
				got := fmt.Sprintf("%s:%d-%d %s %s", c.Path, c.StartLine, c.EndLine, c.Kind, c.Symbol)
				if i == 0 && got != want {
					t.Errorf("%s: %s, want %s", query, got, want)
				}
				if c.Kind == "prototype" && got != want || strings.Contains(c.Text, "LOCK_WAIT_H") {
					t.Errorf("%s: also %s\n%s", query, got, c.Text)
				}
			}
		}
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
