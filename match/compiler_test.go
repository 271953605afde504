package match

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"quarry/fault"
)

func repeated(n int, expr string) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = expr
	}
	return list
}

// The patterns of a list share a budget, in each syntax and for all sizes.
func TestCompilerBoundsAllPatterns(t *testing.T) {
	for _, c := range []struct {
		name string
		expr []string
		opts Options
	}{
		{"automata", repeated(1000, `\pL{300}N`), Options{}},
		{"trees", repeated(150, strings.Repeat("a*", 50_000)), Options{}},
		{"classes", repeated(1000, strings.Repeat(`[\w\d]`, 100)), Options{}},
		{"patterns", repeated(20_000, "a"), Options{}},
		{"trees of JavaScript", repeated(150, strings.Repeat("a*", 50_000)), Options{Syntax: ECMAScript}},
		{"classes of JavaScript", repeated(1000, strings.Repeat(`[\p{L}\d]`, 100)), Options{Syntax: ECMAScript, Unicode: true}},
		{"sets of JavaScript", repeated(1000, strings.Repeat(`[\p{L}--\p{Lu}]`, 100)), Options{Syntax: ECMAScript, UnicodeSets: true}},
	} {
		_, err := NewCompiler(t.Context(), c.opts).Each(c.expr)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(e.Reason, "too large together") || e.Hint == "" || fault.CodeOf(err) != fault.InvalidPattern {
			t.Errorf("%s: Each: %v", c.name, err)
		}
	}
	c := NewCompiler(t.Context(), Options{})
	if _, err := c.Each([]string{`\w+\s+foo`, "bar"}); err != nil {
		t.Error(err)
	}
}

// The budget of a call is shared by all its compilers.
func TestOneCall(t *testing.T) {
	ctx := OneCall(t.Context())
	for i := range 1000 {
		if _, err := NewCompiler(ctx, Options{}).Any([]string{`\pL{300}N`}); err != nil {
			if i < 50 {
				t.Errorf("pattern %d: %v", i, err)
			}
			return
		}
	}
	t.Error("1,000 patterns of 4 MB compile in one call")
}

// Compiling ends soon after its context, and so does building a pattern's automata later.
func TestCompilerStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	polls := 0
	c := NewCompiler(ctx, Options{})
	stop := c.stop
	counting := func() error {
		if polls++; polls == 5 {
			cancel()
		}
		return stop()
	}
	c.stop = counting
	if _, err := c.Any([]string{`\pL{2000}N`}); !errors.Is(err, context.Canceled) || polls > 8 {
		t.Errorf("Any: %v after %d polls", err, polls)
	}
	over, cancel := context.WithCancel(t.Context())
	p, err := NewCompiler(over, Options{}).Any([]string{`(\pL{300})N`})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	m := p.NewMatcher()
	if began := time.Now(); m.MatchLine([]byte("é")) {
		t.Error("it matches", time.Since(began))
	}
	m.Captures([]byte(strings.Repeat("é", 300)+"N"), 0, nil)
	if !errors.Is(m.Err(), context.Canceled) {
		t.Errorf("Err after the context has ended: %v", m.Err())
	}
}
