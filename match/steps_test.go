package match

import (
	"errors"
	"strings"
	"testing"
	"time"

	"quarry/internal/stress"
)

// Patterns with counts in the thousands take linear time where a match begins nearly
// everywhere, and end with ErrBudget where none does. Formerly 4 MB took 280 s.
func TestLargeCounts(t *testing.T) {
	stress.SkipShort(t)
	lines := strings.Repeat("static int value = compute(first, second); /* some comment here */\n", stress.Size(1<<19, 2<<20)/68)
	one := strings.ReplaceAll(lines, "\n", " ")
	for _, c := range []struct {
		expr    string
		mode    Mode
		text    string
		matches int // -1: any number, with or without ErrBudget
	}{
		{`[\w\W]{500}`, Multiline, lines, len(lines) / 500},
		{`[\w\W]{5000}`, Multiline, lines, len(lines) / 5000},
		{`[\w\W]{5000}`, Multiline, one, len(one) / 5000},
		{`[\w\W]{5000}`, Lines, one, len(one) / 5000},
		{`(?s).{4000}x`, Multiline, one, -1},
		{`[^a]{5000}`, Multiline, one, -1},
		{`[^a]{40}[^b]{5000}`, Multiline, one, -1},
		{`(?:[a-z]+ ?){2000}!`, Multiline, one, -1},
		{strings.Repeat("[^a]", 10_000), Multiline, one, -1},
		{`.*.*=.*`, Lines, lines, strings.Count(lines, "\n")},
		{`.*.*=.*`, Lines, one, 1},
	} {
		name := c.expr[:min(len(c.expr), 30)]
		p, err := Compile(c.expr, Options{Mode: c.mode})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		s, n := p.NewSearch(), 0
		if c.matches < 0 {
			s.exact.Store(maxSteps / int64(stress.Size(64, 16))) // a full budget takes 16 times as long
		}
		m := s.NewMatcher()
		start := stress.CPU()
		m.Each([]byte(c.text), func(int, int) bool { n++; return true })
		took := stress.CPU() - start
		t.Logf("%s in mode %d: %v, %d matches, %v", name, c.mode, took.Round(time.Millisecond), n, m.Err())
		if took > 4*time.Second {
			t.Errorf("%s in mode %d took %v", name, c.mode, took)
		}
		if c.matches >= 0 && (n != c.matches || m.Err() != nil) {
			t.Errorf("%s in mode %d: %d matches, want %d, %v", name, c.mode, n, c.matches, m.Err())
		}
		if m.Err() != nil && !errors.Is(m.Err(), ErrBudget) {
			t.Errorf("%s: %v", name, m.Err())
		}
	}
}

// The matchers of one search share its budget.
func TestStepsAreShared(t *testing.T) {
	stress.SkipTiny(t)
	s := MustCompile(`[^a]{40}[^b]{5000}c`, Options{Mode: Multiline}).NewSearch()
	text := []byte(strings.Repeat("defghijkl mnop", 40_000) + "c")
	s.exact.Store(1000)
	first, second := s.NewMatcher(), s.NewMatcher()
	first.Each(text, func(int, int) bool { return true })
	if !errors.Is(first.Err(), ErrBudget) {
		t.Skip("an automaton does it") // then the pattern doesn't use the budget
	}
	second.Each(text, func(int, int) bool { return true })
	if !errors.Is(second.Err(), ErrBudget) {
		t.Errorf("the second matcher: %v", second.Err())
	}
}
