package searcher_test

import (
	"path/filepath"
	"strings"
	"testing"

	regime "quarry/internal/stress"
	"quarry/search"
)

// A call that finds no definition searches three times: for the name, for similar names,
// and outside the path. A large text is parsed only the first time, until it changes.
func TestLargeTextIsReadOnce(t *testing.T) {
	regime.SkipRace(t)
	text := strings.Repeat("a<b<", 1<<18)
	ws := workspace(t, map[string]string{"a.java": text}, nil)
	took := func(name string, fuzzy bool, want int) (seconds float64) {
		t.Helper()
		began := regime.CPU()
		r, err := ws.Symbols(t.Context(), search.SymbolQuery{Name: name, Fuzzy: fuzzy})
		if err != nil || len(r.Symbols) != want || r.SkippedCount[search.TooLarge] != 1 {
			t.Errorf("%q: %v, %d definitions, want %d, skipped %v", name, err, len(r.Symbols), want, r.SkippedCount)
		}
		return (regime.CPU() - began).Seconds()
	}
	first := took("b", false, 0)
	again := took("b", true, 0) + took("b", false, 0)
	t.Logf("read in %.2f s, asked twice more in %.2f s of processor time", first, again)
	if again > first/2 {
		t.Errorf("asked twice more in %.2f s, the first time in %.2f s", again, first)
	}
	putFile(t, filepath.Join(ws.Dir(), "a.java"), "class Needle {}\n"+text[len("class Needle {}\n"):]) // the same size
	took("Needle", false, 1)
	took("needl", true, 1)
}
