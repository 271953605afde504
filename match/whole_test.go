package match

import (
	"fmt"
	"strings"
	"testing"

	"quarry/internal/stress"
)

// Spans and groups in texts of many lines, with runs that a state stays in, are
// those of the exact engine: what jumps over such runs, what looks only around a
// literal and what decides word assertions by their inside changes nothing.
func TestWholeTextsAgree(t *testing.T) {
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
