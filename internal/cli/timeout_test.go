package cli

import (
	"context"
	"fmt"
	"testing"
	"time"

	"quarry/match"
)

// A pattern that compiles slowly doesn't delay a search beyond its time limit. The search then runs
// out of time with a pattern that matches nothing.
func TestCompileIsBounded(t *testing.T) {
	patterns := make([]string, 20_000)
	for i := range patterns {
		patterns[i] = fmt.Sprintf("%011x", i*7919)
	}
	over, cancel := context.WithTimeout(t.Context(), -time.Hour)
	defer cancel()
	o := match.Options{Case: match.Insensitive}
	p, err := compileWithin(over, patterns, o)
	if err != nil {
		t.Fatal(err)
	}
	found := false
	p.NewMatcher().Each([]byte(patterns[7]), func(int, int) bool { found = true; return false })
	if found {
		t.Error("the patterns were compiled though no time was left")
	}
	if p, err = compileWithin(t.Context(), patterns[:100], o); err != nil {
		t.Fatal(err)
	}
	if p.NewMatcher().Each([]byte(patterns[7]), func(int, int) bool { found = true; return false }); !found {
		t.Error("with time left the patterns find nothing")
	}
}
