package searcher_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry"
	"quarry/internal/quarrytest"
	"quarry/internal/stress"
	"quarry/search"
)

// The files with the most matches come first in every process. The second search reads
// only changed files, and its answer equals a scan's.
func TestMostMatchesAreRemembered(t *testing.T) {
	dir := t.TempDir()
	for i := range 40 {
		text := strings.Repeat("needle\nhay\n", i%7) + "Needle\n"
		quarrytest.PutFile(t, filepath.Join(dir, fmt.Sprintf("d%d", i%3), fmt.Sprintf("f%02d.txt", i)), text)
	}
	quarrytest.PutFile(t, filepath.Join(dir, "d0", "bin"), "needle\x00needle\n")
	with, without := indexedPair(t, dir, 2)
	query := func(pattern string, paths ...string) search.Query {
		q := search.Query{Pattern: pattern, Detail: search.Counts, Order: search.ByMatches, Limits: search.Limits{Files: 5}}
		q.Paths = paths
		return q
	}
	ask := func(ws *quarry.Workspace, q search.Query) (string, *search.Result) {
		t.Helper()
		r, err := ws.Search(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, f := range r.Files {
			fmt.Fprintf(&b, "%s %d\n", f.Path, f.Matched)
		}
		fmt.Fprintln(&b, r.FilesMatched, r.LinesMatched, r.Exact, r.Stopped, r.SkippedCount, r.Skipped, r.Stats.Considered)
		return b.String(), r
	}
	same := func(what string, q search.Query, read bool) {
		t.Helper()
		got, r := ask(with, q)
		want, _ := ask(without, q)
		if got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
		if r.Stats.Plan.Kind != search.PlanIndex {
			t.Errorf("%s: answered by %s", what, r.Stats.Plan.Kind)
		}
		if (r.Stats.Bytes > 0) != read && (read || !stress.UnderWine()) { // under Wine, recently written files are read again
			t.Errorf("%s: %d bytes read, want some: %v", what, r.Stats.Bytes, read)
		}
	}
	same("first", query("needle"), true)
	same("again", query("needle"), false)
	same("a folder of it", query("needle", "d1"), false)
	same("another case", query("(?i)needle"), true)
	same("a folder", query("hay", "d2"), true)
	same("more than the folder", query("hay"), true)
	quarrytest.PutFile(t, filepath.Join(dir, "d1", "f01.txt"), strings.Repeat("needle\n", 50))
	same("after a change", query("needle"), true)
	if err := os.Remove(filepath.Join(dir, "d2", "f05.txt")); err != nil {
		t.Fatal(err)
	}
	same("after a removal", query("needle"), true) // the changed file is still read
}
