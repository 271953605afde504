package dfa_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"quarry/internal/re/dfa"
	"quarry/internal/re/hir"
	"quarry/internal/re/nfa"
	"quarry/internal/re/nfa/nfatest"
	"quarry/internal/re/pike"
	"quarry/internal/stress"
)

type randomCase struct {
	node *hir.Node
	name string
	p    *nfa.Prog
	rev  *nfa.Prog
}

func randomCases(t testing.TB, seed uint64, n int) []randomCase {
	r := rand.New(rand.NewPCG(seed, 77))
	var cs []randomCase
	for range n {
		pattern := nfatest.Pattern(r, 4)
		node, err := nfatest.Parse(pattern)
		if err != nil {
			continue
		}
		if r.IntN(2) == 0 {
			node = nfatest.WithLooks(r, node)
			pattern += fmt.Sprint(" with looks ", looksOf(node))
		}
		utf8 := r.IntN(2) == 0
		cs = append(cs, randomCase{node, pattern,
			nfatest.Compile(t, node, nfa.Options{UTF8: utf8}), nfatest.Compile(t, node, nfa.Options{Reverse: true, UTF8: utf8})})
	}
	return cs
}

func looksOf(n *hir.Node) []hir.Look {
	if n.Op == hir.OpLook {
		return []hir.Look{n.Look}
	}
	var all []hir.Look
	for _, s := range n.Subs {
		all = append(all, looksOf(s)...)
	}
	return all
}

// checkFind compares one search with the Pike VM's and reports whether the finder gave up.
func checkFind(t *testing.T, name string, cache *dfa.FindCache, p *nfa.Prog, hay []byte, from, to int, anchored bool) bool {
	t.Helper()
	var vm pike.Cache
	span := make([]int, 2)
	start, end, got := cache.Find(hay, from, to, anchored)
	want := vm.Find(p, pike.Input{Hay: hay, From: from, To: to, Anchored: anchored}, span)
	if got == dfa.GaveUp {
		return true
	}
	if (got == dfa.Match) != (want == pike.Match) || got == dfa.Match && (start != span[0] || end != span[1]) {
		t.Fatalf("%s on %q[%d:%d] anchored %v: dfa %v %d %d, pike %v %v", name, hay, from, to, anchored, got, start, end, want, span)
	}
	return false
}

func TestFinderAgreesWithPike(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	gaveUp, all := 0, 0
	for _, c := range randomCases(t, 1, stress.Fewer(2000)) {
		size := 0
		if r.IntN(4) == 0 {
			size = 1 // the minimal number of states
		}
		cache := dfa.NewFinder(c.p, c.rev, &dfa.Options{CacheSize: size}).NewCache()
		for range 6 {
			hay := []byte(nfatest.Text(r, r.IntN(20), r.IntN(2) == 0))
			from := r.IntN(len(hay) + 1)
			if r.IntN(2) == 0 {
				from = 0
			}
			to := from + r.IntN(len(hay)-from+1)
			if r.IntN(2) == 0 {
				to = len(hay)
			}
			if all++; checkFind(t, c.name, cache, c.p, hay, from, to, r.IntN(4) == 0) {
				gaveUp++
			}
		}
	}
	if gaveUp > all/3 {
		t.Errorf("gave up on %d of %d", gaveUp, all)
	}
}
