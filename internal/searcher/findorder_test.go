package searcher

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/search"
)

// Joining the entries of folders gives the same order as sorting all paths, including
// names that extend another one (a-b, a, a/x, a0) and large folders in several parts.
func TestFoundInPathOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	names := []string{"a", "a-b", "a.c", "a0", "ab", "b", "-", "é"}
	for round := range 300 {
		var all []search.Entry
		var parts []foundIn
		add := func(prefix string, list []search.Entry) {
			sortEntries(list, search.ByPath)
			parts = append(parts, foundIn{prefix, list})
		}
		var fill func(prefix string, depth int)
		fill = func(prefix string, depth int) {
			var here []search.Entry
			for _, name := range names {
				e := search.Entry{Path: prefix + name, Folder: depth < 3 && rng.IntN(3) == 0}
				if e.Folder {
					fill(e.Path+"/", depth+1)
				}
				if rng.IntN(3) > 0 {
					here = append(here, e)
				}
			}
			all = append(all, here...)
			k := rng.IntN(len(here) + 1)
			if k > 0 {
				add(prefix, slices.Clone(here[:k]))
			}
			if k < len(here) {
				add(prefix, slices.Clone(here[k:]))
			}
		}
		fill("", 0)
		rng.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		sortEntries(all, search.ByPath)
		if diff := cmp.Diff(all, appendInOrder(t.Context(), nil, parts, 4)); diff != "" {
			t.Fatalf("round %d:\n%s", round, diff)
		}
	}
}
