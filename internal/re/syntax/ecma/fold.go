package ecma

import (
	"slices"
	"sort"
	"sync"

	"quarry/internal/re/hir"
	"quarry/internal/re/ucd"
)

// Fold is a way to compare characters.
type Fold uint8

const (
	FoldNone   Fold = iota // no folding
	FoldUpper              // with i: by upper case, single characters only
	FoldSimple             // with i and u or v: by Unicode's simple case folding
)

// Canonical returns the representative of all characters that compare equal to r.
func (f Fold) Canonical(r rune) rune {
	switch f {
	case FoldUpper:
		return ucd.ECMAUpper(r)
	case FoldSimple:
		return ucd.SimpleFold(r)
	}
	return r
}

// upperOrbits holds the sets of two or more characters with the same upper case, ordered by
// their smallest member, and maps each character to its set.
var upperOrbits = sync.OnceValue(func() *orbits {
	members := map[rune][]rune{}
	for r := rune(0); r <= 0xFFFF; r++ {
		if u := ucd.ECMAUpper(r); u != r {
			members[u] = append(members[u], r)
		}
	}
	o := &orbits{of: map[rune][]rune{}}
	for u, m := range members {
		m = append(m, u)
		slices.Sort(m)
		o.sets = append(o.sets, m)
		for _, r := range m {
			o.of[r] = m
		}
	}
	sort.Slice(o.sets, func(i, j int) bool { return o.sets[i][0] < o.sets[j][0] })
	return o
})

type orbits struct {
	sets [][]rune
	of   map[rune][]rune
}

// closeOver adds to the set all characters that compare equal to a member.
func closeOver(f Fold, c *hir.Class) *hir.Class {
	var add []hir.Range
	switch f {
	case FoldNone:
		return c
	case FoldSimple:
		add = hir.ScalarClass(ucd.Folds(c.Ranges)).Ranges
	case FoldUpper:
		add = upperFolds(c)
	}
	if len(add) == 0 {
		return c
	}
	return c.Union(hir.NewClass(add...))
}

// upperFolds returns the ranges that fold to a member of c. It iterates over the characters of
// a small set, or over all orbits for a large one.
func upperFolds(c *hir.Class) (add []hir.Range) {
	o := upperOrbits()
	take := func(orbit []rune) {
		for _, r := range orbit {
			add = append(add, hir.Range{Lo: r, Hi: r})
		}
	}
	if c.Len() >= len(o.sets) {
		for _, set := range o.sets {
			if slices.ContainsFunc(set, c.Contains) {
				take(set)
			}
		}
		return add
	}
	for _, rg := range c.Ranges {
		for r := rg.Lo; r <= rg.Hi; r++ {
			take(o.of[r])
		}
	}
	return add
}
