package match

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// patternGen generates random patterns that are valid in Rust's syntax and, with common
// set, mean the same in Go's regexp.
type patternGen struct {
	rng    *rand.Rand
	common bool
}

func (g *patternGen) pick(list ...string) string { return list[g.rng.IntN(len(list))] }

func (g *patternGen) pattern(depth int) string {
	if depth <= 0 {
		return g.atom()
	}
	switch g.rng.IntN(9) {
	case 0:
		return g.pattern(depth-1) + "|" + g.pattern(depth-1)
	case 1, 2, 3:
		return g.pattern(depth-1) + g.pattern(depth-1)
	case 4:
		return "(" + g.pattern(depth-1) + ")"
	case 5:
		return "(?:" + g.pattern(depth-1) + ")" + g.repeat()
	case 6:
		return g.atom() + g.repeat()
	case 7:
		return "(?i:" + g.pattern(depth-1) + ")"
	}
	return g.atom()
}

func (g *patternGen) repeat() string {
	r := g.pick("*", "+", "?", "{2}", "{1,3}", "{2,}", "{0,2}")
	if g.rng.IntN(4) == 0 {
		r += "?"
	}
	return r
}

func (g *patternGen) atom() string {
	atoms := []string{
		"a", "b", "ab", "foo", "bar", "x", "s", "k", "sk", "fook", "é", "ж", ".", "[ab]", "[^a]", "[a-f]", "[0-9]",
		"^", "$", "_", " ", "-", "foo_bar", "[[:alpha:]]", `\.`, "1", "Foo", "(?:)",
	}
	if !g.common {
		atoms = append(atoms, `\w`, `\d`, `\s`, `\W`, `\b`, `\B`, `\w+`, `\s+`, `\b{start}`, `\b{end}`, `\<`, `\>`,
			`\b{start-half}`, `\b{end-half}`, `\pL`, `\p{Greek}`, `[\w&&[^a-f]]`, `(?-u:\b)`, `(?-u:\w)`, `[^\s]`, `\S+`,
			`\A`, `\z`, `(?-u:[^a])`, `\r`)
	}
	return g.pick(atoms...)
}

// text generates lines in which such patterns may match.
func (g *patternGen) text() string {
	words := []string{
		"a", "b", "ab", "foo", "bar", "fook", "sk", "\u017f", "\u212a", "FOO", "foo_bar", "é", "É", "ж", "λ", "x", "1", "42",
		" ", " ", "-", ".", "\t", "_", "", "s", "k", "S", "K", "aaaa", "abab",
	}
	if !g.common {
		words = append(words, "\xff", "\xe2\x84", "\xc5", "\r")
	}
	var b strings.Builder
	for range g.rng.IntN(6) {
		for range g.rng.IntN(7) {
			b.WriteString(g.pick(words...))
		}
		if g.rng.IntN(5) == 0 && !g.common {
			b.WriteString("\r")
		}
		b.WriteString("\n")
	}
	for range g.rng.IntN(3) {
		b.WriteString(g.pick(words...))
	}
	return b.String()
}

func seeded(seed uint64, common bool) *patternGen {
	return &patternGen{rng: rand.New(rand.NewPCG(seed, 7)), common: common}
}

func lineList(visit func(func(start, end int) bool)) string {
	var b strings.Builder
	visit(func(start, end int) bool {
		fmt.Fprintf(&b, "%d-%d ", start, end)
		return true
	})
	return b.String()
}
