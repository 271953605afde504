package dfa_test

import (
	"bytes"
	"strings"
	"testing"

	"quarry/internal/re/dfa"
	"quarry/internal/re/hir"
	"quarry/internal/re/nfa"
	"quarry/internal/re/nfa/nfatest"
)

func mustParse(t *testing.T, pattern string) *hir.Node {
	n, err := nfatest.Parse(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Options.Next doesn't change results, regardless of where the text is cut into the pieces
// between two calls of Stop.
func TestNextAgrees(t *testing.T) {
	node := mustParse(t, `foo\s+ba[rz]`)
	p, rev := nfatest.Compile(t, node, nfa.Options{}), nfatest.Compile(t, node, nfa.Options{Reverse: true})
	next := func(text []byte, from int) int {
		if i := bytes.Index(text[from:], []byte("foo")); i >= 0 {
			return from + i
		}
		return len(text)
	}
	for _, pad := range []int{0, 1, 256<<10 - 4, 256<<10 - 2, 256<<10 - 1, 256 << 10, 300 << 10} {
		hay := []byte("foo ba" + strings.Repeat(" ", pad) + "foo foo  barfoo baz")
		plain, quick := dfa.NewFinder(p, rev, nil).NewCache(), dfa.NewFinder(p, rev, &dfa.Options{Next: next}).NewCache()
		for from := 0; from <= len(hay); from = max(from+1, from+pad/2) {
			s, e, r := plain.Find(hay, from, len(hay), false)
			if s2, e2, r2 := quick.Find(hay, from, len(hay), false); s != s2 || e != e2 || r != r2 {
				t.Errorf("pad %d from %d: %d-%d %d with Next, %d-%d %d without", pad, from, s2, e2, r2, s, e, r)
			}
		}
	}
}

// A search stops when told to, and reports it.
func TestStop(t *testing.T) {
	node := mustParse(t, `[a-c]+x`)
	p, rev := nfatest.Compile(t, node, nfa.Options{}), nfatest.Compile(t, node, nfa.Options{Reverse: true})
	hay := append(bytes.Repeat([]byte("ab "), 1<<20), "abx"...)
	asked := 0
	stop := func() bool { asked++; return asked > 2 }
	spans := dfa.NewFinder(p, rev, nil).NewCache()
	spans.Stop = stop
	if _, _, r := spans.Find(hay, 0, len(hay), false); r != dfa.Stopped {
		t.Errorf("Find: result %d after %d questions", r, asked)
	}
	for name, text := range map[string][]byte{"one line": hay, "lines": bytes.ReplaceAll(hay, []byte("ab ab ab "), []byte("ab ab ab\n"))} {
		asked = 0
		lines := dfa.NewLines(p, nil).NewCache(exact(p))
		lines.Stop = stop
		if got := lines.All(nil, text); len(got) != 0 || asked != 3 {
			t.Errorf("All, %s: %d lines after %d questions", name, len(got), asked)
		}
	}
}
