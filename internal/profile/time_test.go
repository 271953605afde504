package profile_test

import (
	"strings"
	"testing"
	"time"

	"quarry/internal/profile"
	"quarry/internal/progress"
	"quarry/search"
)

// A search that times out returns its partial results and says so, in every dialect:
// "nothing found" never means "not searched".
func TestSearchTime(t *testing.T) {
	ws := many(40, 200).make(t)
	for _, c := range []struct{ profile, tool, args string }{
		{"quarry", "search_files", `{"regex":"match"}`},
		{"quarry", "search_files", `{"pattern":"match"}`},
		{"quarry", "file_search", `{"query":"nowhere"}`},
		{"roo", "search_files", `{"path":".","regex":"match"}`},
		{"godoctor", "file_search", `{"query":"match"}`},
		{"vault", "search_files", `{"pattern":"match","file_pattern":"**"}`},
		{"quarry", "search_code", `{"query":"match"}`},
		{"smcp", "search_code", `{"query":"match"}`},
		{"notes", "search_notes", `{"query":"match"}`},
		{"vault", "search_notes", `{"query":"match"}`},
		{"quarry", "search_by_path", `{"pattern":"*"}`},
		{"smcp", "search_by_path", `{"pattern":"**"}`},
		{"quarry", "list_files", `{"pattern":"**"}`},
		{"quarry", "list_files", `{"depth":3}`},
		{"vault", "list_files", `{"pattern":"**"}`},
	} {
		r := call(t, tools(t, ws, profile.Options{Profile: c.profile, Time: time.Nanosecond}), c.tool, c.args)
		if r.IsError || !strings.Contains(r.Text, "Stopped after 1ns: the answer is partial. Use a more specific search or path.") {
			t.Errorf("%s %s %s: %.300s", c.profile, c.tool, c.args, r.Text)
		}
		r = call(t, tools(t, ws, profile.Options{Profile: c.profile}), c.tool, c.args)
		if strings.Contains(r.Text, "partial") {
			t.Errorf("%s %s %s with time: %.300s", c.profile, c.tool, c.args, r.Text)
		}
	}
}

// The watcher of a search is told how many files were read and matches found.
func TestWatch(t *testing.T) {
	ws := many(4, 5).make(t)
	w := &progress.Count{}
	if _, err := ws.Search(progress.With(t.Context(), w), search.Query{Pattern: "match"}); err != nil {
		t.Fatal(err)
	}
	if w.Files.Load() != 4 || w.Matches.Load() != 20 {
		t.Errorf("%d files, %d matches", w.Files.Load(), w.Matches.Load())
	}
	w = &progress.Count{}
	if _, err := ws.SearchCode(progress.With(t.Context(), w), search.CodeQuery{Query: "match"}); err != nil {
		t.Fatal(err)
	}
	if w.Files.Load() != 4 {
		t.Errorf("%d files ranked", w.Files.Load())
	}
}
