package profile_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"quarry/change"
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

// The watcher of a search is told how many files were read and matches found, and that of a change
// how many of its steps are done.
func TestWatch(t *testing.T) {
	ws := many(4, 5).make(t)
	w := &progress.Count{}
	found, err := ws.Search(progress.With(t.Context(), w), search.Query{Pattern: "match"})
	if err != nil {
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
	set, id := change.Set{}, ""
	for _, f := range found.Files {
		set.Ops = append(set.Ops, change.Op{Path: f.Path, Edits: []change.Edit{{Old: "match", New: "other", Occurrence: change.All}}})
	}
	for _, c := range []struct {
		name string
		do   func(context.Context) (*change.Change, error)
		want int64
	}{
		{"planned", func(ctx context.Context) (*change.Change, error) { return ws.Plan(ctx, set) }, 4},
		{"applied", func(ctx context.Context) (*change.Change, error) { return ws.Apply(ctx, set) }, 12},
		{"undone", func(ctx context.Context) (*change.Change, error) { return ws.Undo(ctx, id, nil) }, 12},
	} {
		w := &progress.Count{}
		made, err := c.do(progress.With(t.Context(), w))
		if err != nil {
			t.Fatal(err)
		}
		if id = made.ID; w.Steps.Load() != c.want || w.Total.Load() != c.want {
			t.Errorf("%s in %d of %d steps, want %d", c.name, w.Steps.Load(), w.Total.Load(), c.want)
		}
	}
}
