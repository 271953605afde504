package match

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"quarry/internal/stress"
)

// Spans and groups in texts of many lines, some with runs that keep a state, equal the exact
// engine's. So three shortcuts don't change results: skipping such runs, searching only around
// a literal, and deciding word assertions by the inside.
func TestWholeTextsAgree(t *testing.T) {
	stress.SkipTiny(t)
	for seed := range uint64(stress.N(2500)) {
		g := seeded(seed+2_000_000, false)
		expr := g.pattern(1 + g.rng.IntN(4))
		switch g.rng.IntN(6) {
		case 0:
			expr = `.*` + expr
		case 1:
			expr = `\b(?:` + expr + `)\b`
		case 2:
			expr = expr + `.*`
		case 3:
			expr = `(\w+)\s+` + expr
		}
		p, err := Compile(expr, Options{Case: Case(g.rng.IntN(3)), Mode: Mode(1 + g.rng.IntN(2)), WholeWord: g.rng.IntN(6) == 0})
		if err != nil {
			t.Fatalf("seed %d: %q: %v", seed, expr, err)
		}
		m := p.NewMatcher()
		for range 3 {
			var b strings.Builder
			for range 1 + g.rng.IntN(4) {
				b.WriteString(g.text())
				b.WriteString(strings.Repeat(g.pick("x", "a", "ж", " ", "foo ", "\xff", "k."), g.rng.IntN(120)))
			}
			text := []byte(b.String())
			checkSpans(t, p, m, text)
			checkGroups(t, p, m, text)
		}
	}
}

// checkGroups compares the groups of all matches with the exact engine's.
func checkGroups(t *testing.T, p *Pattern, m *Matcher, text []byte) {
	t.Helper()
	if p.plan.superset {
		return
	}
	for _, groups := range pikeMatches(p, p.plan.prog(), text, 0, len(text), false, 0) {
		slots, ok := m.Captures(text, groups[0][0], nil)
		if !ok {
			t.Fatalf("%q in %q: no groups at %d", p, text, groups[0][0])
		}
		var got, want []int
		for i, g := range groups {
			got, want = append(got, slots[2*i], slots[2*i+1]), append(want, g[0], g[1])
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%q (%s) in %q at %d: groups %v, want %v", p, p.Strategy(), text, groups[0][0], got, want)
		}
	}
}

// A pattern for which OneLine is true has the same matches in both modes.
func TestOneLine(t *testing.T) {
	for expr, want := range map[string]bool{
		"needle": true, `\w+`: true, "a|bc": true, `\bfoo\b`: true, "(?i)NEEDLE": true, "[a-z]+|é": true,
		`^a b$`: true, "[a-z]+$": true, "^$": true, "x*": true, `\s*`: false,
		`a.`: true, `a\s`: false, `a\n`: false, `\Aa`: false, `a\z`: false, `[^b]`: false, `a\r`: false, `(?s)a.b`: false,
	} {
		multi := MustCompile(expr, Options{Mode: Multiline})
		lines, err := Compile(expr, Options{})
		if got := multi.OneLine() && err == nil; got != want {
			t.Errorf("%q: OneLine() = %v", expr, got)
		}
		if !want {
			continue
		}
		a, b := multi.NewMatcher(), lines.NewMatcher()
		rng := stress.Rand(uint64(len(expr)))
		for range 3000 {
			var text []byte
			for range rng.IntN(12) {
				text = append(text, []string{"a", "b", "needle", " ", "\n", "\r\n", "foo", "é"}[rng.IntN(8)]...)
			}
			var x, y [][2]int
			a.Each(text, func(s, e int) bool { x = append(x, [2]int{s, e}); return true })
			b.Each(text, func(s, e int) bool { y = append(y, [2]int{s, e}); return true })
			// No line begins after the last line feed.
			if n := len(x); n > 0 && x[n-1] == [2]int{len(text), len(text)} && (len(text) == 0 || text[len(text)-1] == '\n') {
				x = x[:n-1]
			}
			x = slices.DeleteFunc(x, func(s [2]int) bool { return s[0] == s[1] && s[0] > 0 && text[s[0]-1] == '\r' })
			if !slices.Equal(x, y) {
				t.Fatalf("%q in %q: %v across lines, %v by lines", expr, text, x, y)
			}
		}
	}
}
