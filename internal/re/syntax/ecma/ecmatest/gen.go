// Package ecmatest generates random JavaScript patterns, and texts they may match, for tests
// that compare with node. The same seed gives the same patterns.
package ecmatest

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Generator generates random patterns and texts they may match.
type Generator struct {
	*rand.Rand
	// Flags of the last pattern: some of i, m, s, u and v.
	Flags  string
	groups int
	names  []string
}

func (g *Generator) pick(list ...string) string { return list[g.IntN(len(list))] }

func (g *Generator) strict() bool { return strings.ContainsAny(g.Flags, "uv") }

// Pattern returns the next pattern, valid or not, and sets Flags.
func (g *Generator) Pattern() string {
	g.groups, g.names = 0, nil
	g.Flags = g.pick("", "", "", "i", "m", "s", "u", "iu", "v", "iv", "im", "su")
	if g.IntN(6) == 0 {
		return g.noise()
	}
	return g.alternatives(3)
}

// noise returns random tokens, most often an invalid pattern.
func (g *Generator) noise() string {
	var b strings.Builder
	for range 1 + g.IntN(8) {
		b.WriteString(g.pick("a", "b", "-", "^", "$", `\`, ".", "*", "+", "?", "(", ")", "[", "]", "{", "}", "|", "/", ",",
			"(?", "(?:", "(?=", "(?<", "(?<!", "<a>", ">", "{1}", "{1,", "{2,1}", "{,3}", `\1`, `\2`, `\8`, `\0`, `\00`, `\07`, `\c`, `\cA`, `\c1`,
			`\k`, `\k<a>`, `\x4`, `\x41`, `\u`, `\u0061`, `\u{61}`, `\u{110000}`, `\p`, `\p{L}`, `\p{Lx}`, `\P{sc=Greek}`, `\d`, `\w-`, `[a-`, `[^`, `[\d-x]`,
			`\b`, `\B`, `\q{a|bc}`, "&&", "--", "[[a]", `\-`, `\a`, `\é`, "é", "=", "!", "1", "c", "0"))
	}
	return b.String()
}

func (g *Generator) alternatives(depth int) string {
	n := 1
	if g.IntN(3) == 0 {
		n += 1 + g.IntN(2)
	}
	var alts []string
	for range n {
		var b strings.Builder
		for range g.IntN(4) {
			b.WriteString(g.term(depth))
		}
		alts = append(alts, b.String())
	}
	return strings.Join(alts, "|")
}

func (g *Generator) term(depth int) string {
	switch n := g.IntN(20); {
	case n == 0:
		return g.pick("^", "$", `\b`, `\B`)
	case n == 1 && g.groups > 0:
		return fmt.Sprintf(`\%d`, 1+g.IntN(g.groups+1)) + g.quantifier()
	case n == 2 && len(g.names) > 0:
		return `\k<` + g.names[g.IntN(len(g.names))] + ">" + g.quantifier()
	case n == 3 && depth > 0:
		return g.pick("(?=", "(?!", "(?<=", "(?<!") + g.alternatives(depth-1) + ")"
	case n < 9 && depth > 0:
		return g.group(depth) + g.quantifier()
	case n < 12:
		return g.class(2) + g.quantifier()
	}
	return g.char() + g.quantifier()
}

func (g *Generator) group(depth int) string {
	switch g.IntN(5) {
	case 0, 1:
		return "(?:" + g.alternatives(depth-1) + ")"
	case 2:
		name := fmt.Sprintf("n%d", len(g.names))
		g.names = append(g.names, name)
		g.groups++
		return "(?<" + name + ">" + g.alternatives(depth-1) + ")"
	}
	g.groups++
	return "(" + g.alternatives(depth-1) + ")"
}

func (g *Generator) quantifier() string {
	if g.IntN(5) < 3 {
		return ""
	}
	q := g.pick("*", "+", "?", "{2}", "{0,2}", "{1,}", "{1,3}", "{0}", "{2,}")
	if g.IntN(4) == 0 {
		q += "?"
	}
	return q
}

func (g *Generator) char() string {
	switch g.IntN(12) {
	case 0:
		return g.pick(".", `\d`, `\w`, `\s`, `\D`, `\W`, `\S`)
	case 1:
		return g.pick(`\n`, `\x61`, `\u0062`, `\t`, `\/`, `\.`, `\cA`, `\0`)
	case 2:
		if g.strict() {
			return g.pick(`\p{Lu}`, `\P{Ll}`, `\p{L}`, `\P{Lu}`, `\p{Script=Greek}`, `\p{sc=Cyrl}`, `\p{Alphabetic}`, `\p{gc=Nd}`, `\u{1F600}`, `\u{10400}`, "😀", `\ud83d\ude00`)
		}
		return g.pick(`\a`, `\7`, `\07`, `\141`, `\8`, "{", "]", "}", `\c`, `\-`, `\é`)
	case 3, 4:
		return g.pick("é", "É", "ß", "ẞ", "ſ", "s", "S", "K", "k", "σ", "ς", "Σ", "İ", "ı", "Å", "å", "Å", "ǆ", "ǅ", "ᾀ", "ᾈ", "µ", "μ", "ÿ", "Ÿ", "ﬀ")
	}
	return g.pick("a", "b", "A", "B", "1", "_", " ", "-", "c")
}

func (g *Generator) class(depth int) string {
	var b strings.Builder
	b.WriteString("[")
	if g.IntN(4) == 0 {
		b.WriteString("^")
	}
	if strings.Contains(g.Flags, "v") {
		g.setContents(&b, depth)
	} else {
		for range g.IntN(4) {
			switch g.IntN(6) {
			case 0:
				b.WriteString(g.pick("a-c", "A-Z", "a-z", "0-9", "à-ÿ", "A-z", "Α-ω", `\x00-\x7f`, " -~"))
			case 1:
				b.WriteString(g.pick(`\d`, `\w`, `\s`, `\W`, `\S`, `\D`, `\b`, `\]`, `\\`))
			case 2:
				if !g.strict() {
					b.WriteString(g.pick(`\d-x`, `a-\w`, `\c1`, `\c`, `\1`, `\8`, `\07`, "{", "[", `\B`, `\k`))
					break
				}
				b.WriteString(g.pick(`\p{Lu}`, `\P{L}`, `\P{Ll}`, `\u{10400}-\u{1044f}`, "😀", `\-`))
			default:
				if c := g.char(); c != "-" && c != "{" && c != "]" && c != "." && c != `\8` && !(g.strict() && len(c) == 2 && strings.ContainsAny(c, "{]}")) {
					b.WriteString(c)
				}
			}
		}
		if g.IntN(6) == 0 {
			b.WriteString("-")
		}
	}
	b.WriteString("]")
	return b.String()
}

func (g *Generator) setContents(b *strings.Builder, depth int) {
	op := g.pick("", "", "&&", "--")
	for i := range 1 + g.IntN(3) {
		if i > 0 {
			b.WriteString(op)
		}
		switch n := g.IntN(8); {
		case n == 0 && depth > 0:
			b.WriteString(g.class(depth - 1))
		case n == 1 && op == "":
			b.WriteString(g.pick("a-c", "A-Z", "a-z", "0-9", "à-ÿ", `\x00-\x7f`))
		case n == 2:
			b.WriteString(g.pick(`\d`, `\w`, `\W`, `\p{Lu}`, `\P{Lu}`, `\p{L}`, `\s`))
		case n == 3:
			b.WriteString(g.pick(`\q{ab|b}`, `\q{}`, `\q{a}`, `\q{aB|1|abc}`, `\q{ß|ſs}`))
		case n == 4:
			b.WriteString(g.pick(`\&`, `\-`, `\!`, "&", "^", `\b`))
		default:
			b.WriteString(g.pick("a", "b", "A", "1", "_", "é", "É", "ſ", "s", "K", "k", "σ", "ß", "ẞ"))
		}
	}
}

// Text returns a text of up to ten characters. It has characters beyond U+FFFF only under u
// and v.
func (g *Generator) Text() string {
	var b strings.Builder
	for range g.IntN(10) {
		switch g.IntN(6) {
		case 0:
			b.WriteString(g.pick("\n", "\r", "\t", "\u2028", "\u00a0", "\ufeff", "\x01", "\x00", "\x07", "\\", ".", "]", "{", "8"))
		case 1:
			b.WriteString(g.pick("é", "É", "ß", "ẞ", "ſ", "s", "S", "K", "k", "σ", "ς", "Σ", "İ", "ı", "Å", "å", "Å", "ǆ", "ǅ", "ᾀ", "ᾈ", "µ", "μ", "ÿ", "Ÿ", "ж"))
		case 2:
			if g.strict() {
				b.WriteString(g.pick("😀", "𐐀", "𐐨", "a"))
			}
		default:
			b.WriteString(g.pick("a", "a", "b", "b", "A", "B", "1", "_", " ", "-", "c"))
		}
	}
	return b.String()
}
