package match

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"quarry/internal/stress"
)

// A long line or text with many matches takes linear time. Formerly each of these cases took
// five seconds for one line of a megabyte.
func TestManyMatchesInOneText(t *testing.T) {
	stress.SkipShort(t)
	text := bytes.Repeat([]byte("as x "), 1<<20/5)
	for _, expr := range []string{"(?i)s", "(?i)as|x", "(?i)\u017f", "s", `\bas\b`, "[as]", "x*", `\w+`} {
		for _, mode := range []Mode{Lines, Multiline, Text} {
			start, n := stress.CPU(), 0
			MustCompile(expr, Options{Mode: mode}).NewMatcher().Each(text, func(int, int) bool { n++; return true })
			if d := stress.CPU() - start; n < 200_000 || d > 2*time.Second {
				t.Errorf("%q in mode %d: %d matches in %v", expr, mode, n, d)
			}
		}
	}
}

// Walking a buffer with Find is at most a few times slower than Each.
func TestFindByFind(t *testing.T) {
	stress.SkipTiny(t)
	stress.SkipRace(t)
	text := bytes.Repeat([]byte("one two three\nfour\n"), 1<<20/19)
	for _, expr := range []string{`t\w+o`, "two", `[a-z]{5}$`} {
		m := MustCompile(expr, Options{}).NewMatcher()
		want := lineList(func(yield func(int, int) bool) { m.Each(text, yield) })
		start := stress.CPU()
		got := lineList(func(yield func(int, int) bool) {
			for from := 0; ; {
				s, e, ok := m.Find(text, from)
				if !ok || !yield(s, e) {
					return
				}
				from = e
			}
		})
		if got != want {
			t.Errorf("%q: Find and Each differ", expr)
		}
		if d := stress.CPU() - start; d > 2*time.Second {
			t.Errorf("%q: %d matches by Find took %v", expr, strings.Count(got, " "), d)
		}
	}
}

// A search ends soon after its context, in every mode and engine, and reports it.
func TestCancelSoon(t *testing.T) {
	stress.SkipRace(t)
	oneLine := bytes.Repeat([]byte("hello world это текст "), 8<<20/28)
	lines := bytes.Clone(oneLine)
	for i := 80; i < len(lines); i += 80 {
		lines[i] = '\n'
	}
	for _, c := range []struct {
		expr   string
		syntax Syntax
	}{
		{"o", Rust}, {"hel+o", Rust}, {"[a-z]+ [0-9]", Rust}, {`\b`, Rust}, {`\w{5}\s+\w{5}\s+\w{5}x`, Rust},
		{`[a-q][^u-z]{13}[0-9]`, Rust}, {`(?:\w+\s+){50}Z`, Rust}, {`(?=\w)\w+ (?=z)`, ECMAScript}, {`(?=h)hellox`, ECMAScript},
	} {
		for _, mode := range []Mode{Lines, Multiline, Text} {
			for name, text := range map[string][]byte{"one line": oneLine, "lines": lines} {
				p := MustCompile(c.expr, Options{Mode: mode, Syntax: c.syntax})
				best := time.Hour
				for try := 0; try < 3 && best > pollLimit; try++ { // the garbage collector may be running
					s := p.NewSearch()
					m := s.NewMatcher()
					m.Find([]byte("warm up"), 0)
					s.Stop(context.Canceled)
					start, n := stress.CPU(), 0
					m.Each(text, func(int, int) bool { n++; return true })
					best = min(best, stress.CPU()-start)
					if m.Err() == nil && n > 0 {
						t.Errorf("%q, mode %d, %s: %d matches and no error", c.expr, mode, name, n)
					}
				}
				if best > pollLimit {
					t.Errorf("%q, mode %d, %s: went on for %v", c.expr, mode, name, best)
				}
			}
		}
	}
}

// Spans and groups in a long text equal the exact engine's, even if a prefilter or the
// automaton runs first.
func TestLongTextAgrees(t *testing.T) {
	for seed := range uint64(stress.N(400)) {
		g := seeded(seed, false)
		expr := g.pattern(3)
		var text []byte
		for len(text) < 600 {
			text = append(text, g.text()...)
		}
		for _, mode := range []Mode{Multiline, Text} {
			p, err := Compile(expr, Options{Mode: mode})
			if err != nil {
				continue
			}
			m, exact := p.NewMatcher(), p.NewMatcher()
			for from := 0; from <= len(text); from += 1 + g.rng.IntN(100) {
				want := make([]int, 2*p.Groups())
				ok := exact.runExact(text, from, len(text), false, want)
				got, found := m.Captures(text, from, nil)
				s, e, _ := m.Find(text, from)
				if ok != found || ok && (fmt.Sprint(got) != fmt.Sprint(want) || s != want[0] || e != want[1]) {
					t.Fatalf("%q, mode %d, from %d in %q: groups %v, span %d-%d, want %v", expr, mode, from, text, got, s, e, want)
				}
			}
		}
	}
}

func TestFindOutsideText(t *testing.T) {
	for _, expr := range []string{"a", "a+", "(?i)s", "[ab]c|d"} {
		for _, mode := range []Mode{Lines, Multiline, Text} {
			m := MustCompile(expr, Options{Mode: mode}).NewMatcher()
			for _, from := range []int{-1, 4} {
				if s, e, ok := m.Find([]byte("aaa"), from); ok || s != 0 || e != 0 {
					t.Errorf("Find(%q, %d) in mode %d = %d, %d, %v", expr, from, mode, s, e, ok)
				}
			}
		}
	}
}

// A non-empty match may begin inside an encoded character if the pattern matches bytes,
// also after an empty match.
func TestMatchInsideCharacter(t *testing.T) {
	m := MustCompile("(?-u:[^a])\U00010400|", Options{}).NewMatcher()
	got := lineList(func(yield func(int, int) bool) { m.Each([]byte("\u039c\U00010400"), yield) })
	if want := "0-0 1-6 "; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Unbroken changes no results.
func TestUnbroken(t *testing.T) {
	stress.SkipShort(t)
	for _, expr := range []string{"needle", "needle|nail", `\w+ needle`, "^$", "zzz", "(?i)NEEDLE", `e\r?$`} {
		m := MustCompile(expr, Options{}).NewMatcher()
		lengths := []int{0, 1, 100, segmentSize, segmentSize + 5}
		if stress.Thorough() {
			lengths = append(lengths, segmentSize-1, 3*segmentSize)
		}
		for _, first := range lengths {
			for _, place := range []float64{0, 0.5, 2} {
				line := bytes.Repeat([]byte("hay "), first/4+2)[:first]
				if at := int(place * float64(first)); place < 2 && at+10 < first {
					copy(line[at:], "a needle e")
				}
				for _, end := range []string{"", "\n", "\r\n", " a needle\r\n", "\nneedle\n\na needle"} {
					buf := append(bytes.Clone(line), end...)
					want := allLines(m, buf)
					for _, n := range []int{first, first / 2, 1} {
						if n > first {
							continue
						}
						m.Unbroken(n)
						got := allLines(m, buf)
						m.Unbroken(n)
						if count := m.CountLines(buf); !slices.Equal(got, want) || count != len(want) {
							t.Fatalf("%q, a line of %d bytes and %q, %d unbroken: %v, %d lines; want %v", expr, first, end, n, got, count, want)
						}
					}
				}
			}
		}
	}
}

func allLines(m *Matcher, buf []byte) (list [][2]int) {
	m.Lines(buf, func(start, end int) bool {
		list = append(list, [2]int{start, end})
		return true
	})
	return list
}
