package quarry_test

import (
	"fmt"
	"math"
	"testing"

	"quarry"
	regime "quarry/internal/stress"
	"quarry/internal/zoekt/zoekttest"
	"quarry/search"
)

// TestRemoteCost counts the contents that servers send. Without a text that every
// match has all of them may be needed; a limit ends the fetching early.
func TestRemoteCost(t *testing.T) {
	regime.SkipTiny(t)
	const repos, files, lines = 4, 500, 10
	var served []zoekttest.Repo
	for r := range repos {
		repo := zoekttest.Repo{Name: fmt.Sprintf("r%d", r), Commit: "1", Files: map[string]string{}}
		for f := range files {
			text := ""
			for l := range lines {
				text += fmt.Sprintf("word %d of file %d\n", l, f)
			}
			if r == repos-1 && f == files-1 {
				text += "needle\n"
			}
			repo.Files[fmt.Sprintf("src/f%03d.txt", f)] = text
		}
		served = append(served, repo)
	}
	for _, c := range []struct {
		name  string
		query search.Query
		most  int // contents
		least int
	}{
		{`\w+, all`, search.Query{Pattern: `\w+`}, repos * files, repos * files},
		// 10 files have 100 lines: the first 16 are fetched, and 32 are on
		// their way when the limit is reached.
		{`\w+, 100 lines`, search.Query{Pattern: `\w+`, Limits: search.Limits{Lines: 100}}, 16 + 32, 16},
		{`\w+, 100 lines of the last repository`, search.Query{Pattern: `\w+`, Scope: search.Scope{Paths: []string{"r3"}}, Limits: search.Limits{Lines: 100}}, 16 + 32, 16},
		{`\w+, 10 files`, search.Query{Pattern: `\w+`, Detail: search.Files, Limits: search.Limits{Files: 10}}, 16 + 32, 16},
		// An agent's search counts further than it shows. Where that would fetch
		// everything, only if all of it is asked for.
		{`\w+, 100 lines, counted to 2,000`, search.Query{Pattern: `\w+`, Limits: search.Limits{Lines: 100, CountTo: 2000, CountCheaply: true}}, 16 + 32, 16},
		{`\w+, 100 lines, counted`, search.Query{Pattern: `\w+`, Limits: search.Limits{Lines: 100, CountTo: math.MaxInt}}, repos * files, repos * files},
		{"word, 100 lines, counted to 2,000", search.Query{Pattern: "word", Limits: search.Limits{Lines: 100, CountTo: 2000, CountCheaply: true}}, 16 + 32 + 64 + 128 + 128, 201},
		{"a text of one file", search.Query{Pattern: "needle"}, 1, 1},
		{"a text that is nowhere", search.Query{Pattern: "nowhere"}, 0, 0},
	} {
		s := startServer(t, served...)
		ws, err := quarry.OpenServers(&quarry.ServersOptions{Servers: s.Addr})
		if err != nil {
			t.Fatal(err)
		}
		mustSearch(t, ws, c.query)
		if err := ws.Close(); err != nil {
			t.Fatal(err)
		}
		got := s.Sent()
		t.Logf("%s: %d of %d contents", c.name, got, repos*files)
		if got > c.most || got < c.least {
			t.Errorf("%s: %d contents were sent, want %d to %d", c.name, got, c.least, c.most)
		}
	}
}
