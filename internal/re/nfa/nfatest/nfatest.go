// Package nfatest makes trees for the engines' tests: trees of patterns in Go's syntax, so that
// the standard library can be the oracle, and random trees with texts. Only tests import it.
package nfatest

import (
	"math/rand/v2"
	"regexp/syntax"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"quarry/internal/re/hir"
	"quarry/internal/re/nfa"
)

// Compile compiles a tree, and fails the test if it can't.
func Compile(t testing.TB, n *hir.Node, opt nfa.Options) *nfa.Prog {
	t.Helper()
	p, err := nfa.Compile(n, opt)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Parse parses pattern as Go's regexp does and returns its tree.
func Parse(pattern string) (*hir.Node, error) {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, err
	}
	return Convert(re), nil
}

// MustParse is Parse for patterns in the test's own source.
func MustParse(pattern string) *hir.Node {
	n, err := Parse(pattern)
	if err != nil {
		panic(err)
	}
	return n
}

// Convert converts a tree of Go's parser.
func Convert(re *syntax.Regexp) *hir.Node {
	greedy := re.Flags&syntax.NonGreedy == 0
	repeat := func(lo, hi int) *hir.Node {
		return &hir.Node{Op: hir.OpRepeat, Min: lo, Max: hi, Greedy: greedy, Subs: []*hir.Node{Convert(re.Sub[0])}}
	}
	look := func(l hir.Look) *hir.Node { return &hir.Node{Op: hir.OpLook, Look: l} }
	switch re.Op {
	case syntax.OpEmptyMatch:
		return &hir.Node{Op: hir.OpEmpty}
	case syntax.OpLiteral:
		return literal(re)
	case syntax.OpCharClass:
		return class(re.Rune)
	case syntax.OpAnyChar:
		return class([]rune{0, utf8.MaxRune})
	case syntax.OpAnyCharNotNL:
		return class([]rune{0, '\n' - 1, '\n' + 1, utf8.MaxRune})
	case syntax.OpBeginLine:
		return look(hir.LookStartLine)
	case syntax.OpEndLine:
		return look(hir.LookEndLine)
	case syntax.OpBeginText:
		return look(hir.LookStart)
	case syntax.OpEndText:
		return look(hir.LookEnd)
	case syntax.OpWordBoundary:
		return look(hir.LookWordASCII)
	case syntax.OpNoWordBoundary:
		return look(hir.LookNotWordASCII)
	case syntax.OpCapture:
		return &hir.Node{Op: hir.OpCapture, Cap: re.Cap, Name: re.Name, Subs: []*hir.Node{Convert(re.Sub[0])}}
	case syntax.OpStar:
		return repeat(0, hir.Unlimited)
	case syntax.OpPlus:
		return repeat(1, hir.Unlimited)
	case syntax.OpQuest:
		return repeat(0, 1)
	case syntax.OpRepeat:
		return repeat(re.Min, re.Max)
	case syntax.OpConcat, syntax.OpAlternate:
		n := &hir.Node{Op: hir.OpConcat}
		if re.Op == syntax.OpAlternate {
			n.Op = hir.OpAlt
		}
		for _, s := range re.Sub {
			n.Subs = append(n.Subs, Convert(s))
		}
		return n
	}
	return &hir.Node{Op: hir.OpFail}
}

func literal(re *syntax.Regexp) *hir.Node {
	if re.Flags&syntax.FoldCase == 0 {
		return &hir.Node{Op: hir.OpLiteral, Lit: []byte(string(re.Rune))}
	}
	n := &hir.Node{Op: hir.OpConcat}
	for _, r := range re.Rune {
		var orbit []rune
		for f := r; ; {
			orbit = append(orbit, f)
			if f = unicode.SimpleFold(f); f == r {
				break
			}
		}
		for i := range orbit {
			for j := i; j > 0 && orbit[j] < orbit[j-1]; j-- {
				orbit[j], orbit[j-1] = orbit[j-1], orbit[j]
			}
		}
		var pairs []rune
		for _, o := range orbit {
			if k := len(pairs); k > 0 && pairs[k-1]+1 == o {
				pairs[k-1] = o
			} else {
				pairs = append(pairs, o, o)
			}
		}
		n.Subs = append(n.Subs, class(pairs))
	}
	return n
}

func class(pairs []rune) *hir.Node {
	c := &hir.Class{}
	for i := 0; i < len(pairs); i += 2 {
		lo, hi := pairs[i], pairs[i+1]
		if lo <= 0xDFFF && hi >= 0xD800 { // texts have no surrogates
			if lo < 0xD800 {
				c.Ranges = append(c.Ranges, hir.Range{Lo: lo, Hi: 0xD7FF})
			}
			if lo = 0xE000; hi < lo {
				continue
			}
		}
		c.Ranges = append(c.Ranges, hir.Range{Lo: lo, Hi: hi})
	}
	if len(c.Ranges) == 0 {
		return &hir.Node{Op: hir.OpFail}
	}
	return &hir.Node{Op: hir.OpClass, Class: c}
}

// Pattern returns a random pattern in Go's syntax over a small alphabet, so that texts
// often match.
func Pattern(r *rand.Rand, depth int) string {
	if depth <= 0 {
		return atoms[r.IntN(len(atoms))]
	}
	sub := func() string { return Pattern(r, depth-1-r.IntN(2)) }
	switch r.IntN(9) {
	case 0, 1, 2:
		return sub() + sub()
	case 3:
		return "(?:" + sub() + "|" + sub() + ")"
	case 4:
		return "(?:" + sub() + "|" + sub() + "|" + sub() + "|" + sub() + ")"
	case 5:
		return "(" + sub() + ")"
	case 6, 7:
		return "(?:" + sub() + ")" + repeats[r.IntN(len(repeats))]
	}
	return atoms[r.IntN(len(atoms))]
}

// WithLooks replaces the assertions in a tree by random ones, so that all kinds occur in all places.
func WithLooks(r *rand.Rand, n *hir.Node) *hir.Node {
	c := *n
	if n.Op == hir.OpLook {
		c.Look = hir.Look(1 + r.IntN(hir.NumLook-1))
	}
	c.Subs = nil
	for _, s := range n.Subs {
		c.Subs = append(c.Subs, WithLooks(r, s))
	}
	return &c
}

var atoms = []string{
	"a", "b", "c", "ab", "aab", "", "a", "b", "é", "☃", ".", "(?s:.)", "[ab]", "[^a]", `\w`, `\W`, `\s`,
	`[a-cé☃]`, "^", "$", "(?m:^)", "(?m:$)", `\b`, `\B`, `\n`, "(?i:ak)", `\pL`, `[\x{80}-\x{10FFFF}]`, " ", "𝛃",
}

var repeats = []string{"*", "+", "?", "*?", "+?", "??", "{2}", "{1,3}", "{2,}", "{0,2}?", "{3}?"}

// Text returns a random text over Pattern's alphabet. With invalid set, some bytes are
// broken encodings.
func Text(r *rand.Rand, n int, invalid bool) string {
	var b strings.Builder
	for range n {
		if invalid && r.IntN(6) == 0 {
			b.WriteString(broken[r.IntN(len(broken))])
			continue
		}
		b.WriteString(letters[r.IntN(len(letters))])
	}
	return b.String()
}

var letters = []string{"a", "a", "b", "b", "c", "aab", "é", "☃", " ", "\n", "\r\n", "_", "k", "\u212a", "𝛃", "\u2028", "-"}

var broken = []string{"\xff", "\x80", "\xe2\x98", "\xc3", "\xf0\x9d", "\xed\xa0\x80", "\xc0\x80"}
