package match

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"quarry/internal/re/literal"
	"quarry/internal/stress"
)

// checkAgree compares the fast paths of a pattern with their definitions on one text.
func checkAgree(t *testing.T, p *Pattern, text []byte) {
	t.Helper()
	if p.opts.Mode == Lines {
		checkLines(t, p, text)
	}
	m := p.NewMatcher()
	for line := range strings.SplitSeq(string(text), "\n") {
		if p.opts.Mode == Lines {
			line = strings.TrimSuffix(line, "\r")
		}
		checkSpans(t, p, m, []byte(line))
	}
}

func checkLines(t *testing.T, p *Pattern, text []byte) {
	t.Helper()
	want := lineList(func(y func(int, int) bool) { p.NewMatcher().eachLine(text, y) })
	m := p.NewMatcher()
	for range 2 { // cold and warm
		if got := lineList(func(y func(int, int) bool) { m.Lines(text, y) }); got != want {
			t.Fatalf("%q (%s) in %q: lines %s, want %s", p, p.Strategy(), text, got, want)
		}
	}
	if got, n := m.CountLines(text), strings.Count(want, " "); got != n {
		t.Fatalf("%q in %q: CountLines %d, want %d", p, text, got, n)
	}
	if got := lineList(func(y func(int, int) bool) { m.allLines(text, 0, y) }); got != want {
		t.Fatalf("%q in %q: lines without prefilter %s, want %s", p, text, got, want)
	}
	p.NewMatcher().eachLine(text, func(start, end int) bool {
		if line := text[start:end]; !holds(p.Need(), line) {
			t.Fatalf("%q matches %q, which lacks its need %+v", p, line, p.Need())
		}
		if !m.MatchLine(text[start:end]) {
			t.Fatalf("%q: MatchLine(%q) is false", p, text[start:end])
		}
		return true
	})
}

// checkSpans compares the matches in one text with the exact engine's.
func checkSpans(t *testing.T, p *Pattern, m *Matcher, text []byte) {
	t.Helper()
	if p.plan.superset {
		return
	}
	var want strings.Builder
	for _, groups := range pikeMatches(p, p.plan.prog(), text, 0, len(text), false, 0) {
		fmt.Fprintf(&want, "%d-%d ", groups[0][0], groups[0][1])
	}
	if got := lineList(func(y func(int, int) bool) { m.each(text, y) }); got != want.String() {
		t.Fatalf("%q (%s) in %q: matches %s, want %s", p, p.Strategy(), text, got, want.String())
	}
}

// holds evaluates a need by the obvious algorithm.
func holds(n Need, text []byte) bool {
	switch n.Op {
	case NeedNever:
		return false
	case NeedOneOf:
		return slices.ContainsFunc(n.Texts, func(t NeedText) bool {
			if t.Fold {
				return strings.Contains(literal.FoldString(string(text)), t.Text)
			}
			return strings.Contains(string(text), t.Text)
		})
	case NeedAll:
		for _, s := range n.Subs {
			if !holds(s, text) {
				return false
			}
		}
	case NeedEither:
		for _, s := range n.Subs {
			if holds(s, text) {
				return true
			}
		}
		return false
	}
	return true
}

func TestFastPathsAgree(t *testing.T) {
	for seed := range uint64(stress.N(3000)) {
		g := seeded(seed, false)
		expr := g.pattern(1 + g.rng.IntN(4))
		opts := Options{
			Case:      Case(g.rng.IntN(3)),
			Mode:      Mode(g.rng.IntN(4) % 3),
			WholeWord: g.rng.IntN(8) == 0,
			WholeLine: g.rng.IntN(16) == 0,
			KeepCR:    g.rng.IntN(4) == 0,
		}
		p, err := Compile(expr, opts)
		if err != nil {
			t.Fatalf("seed %d: %q: %v", seed, expr, err)
		}
		for range 4 {
			checkAgree(t, p, []byte(g.text()))
		}
		checkAgree(t, p, []byte(strings.Repeat(g.text()+"\n", 20)))
	}
}

// Searching the parts that Cut makes gives the matches of the whole text.
func TestCutAgrees(t *testing.T) {
	cut := 0
	for seed := range uint64(stress.N(3000)) {
		g := seeded(seed+2_000_000, false)
		expr := g.pattern(1 + g.rng.IntN(4))
		p, err := Compile(expr, Options{Mode: Multiline, WholeWord: g.rng.IntN(8) == 0})
		if err != nil {
			t.Fatalf("seed %d: %q: %v", seed, expr, err)
		}
		if !p.Cuts() {
			continue
		}
		for range 4 {
			text := []byte(g.text() + g.text())
			at := p.Cut(text, g.rng.IntN(len(text)+1))
			if at == 0 {
				continue
			}
			if !p.ByLine() {
				cut++
			}
			m := p.NewMatcher()
			want := lineList(func(y func(int, int) bool) { m.Each(text, y) })
			got := lineList(func(y func(int, int) bool) { m.Each(text[:at], y) }) +
				lineList(func(y func(int, int) bool) { m.Each(text[at:], func(s, e int) bool { return y(at+s, at+e) }) })
			if p.plan.prog().Nullable {
				continue // the end of the first part is the start of the second
			}
			if got != want {
				t.Fatalf("seed %d: %q in %q, cut at %d: matches %s, want %s", seed, expr, text, at, got, want)
			}
		}
	}
	if cut == 0 {
		t.Error("no text was cut between lines that a match may join")
	}
}

// Go's regexp gives the same matches for the common syntax without Unicode classes.
func TestAgainstStandardLibrary(t *testing.T) {
	cases, matched := 0, 0
	for seed := range uint64(stress.N(3000)) {
		g := seeded(seed+1_000_000, true)
		expr := g.pattern(1 + g.rng.IntN(4))
		std, err := regexp.Compile(expr)
		if err != nil {
			t.Fatalf("seed %d: %q: %v", seed, expr, err)
		}
		p, err := Compile(expr, Options{Mode: Text})
		if err != nil {
			t.Fatalf("seed %d: %q: %v", seed, expr, err)
		}
		for range 4 {
			if cases++; checkStd(t, std, p, g.text()) {
				matched++
			}
		}
	}
	if t.Logf("%d texts compared, the standard library finds something in %d", cases, matched); matched < cases/4 {
		t.Error("too few of them match")
	}
}

// checkStd compares with the standard library and reports whether it finds a match.
func checkStd(t *testing.T, std *regexp.Regexp, p *Pattern, text string) bool {
	t.Helper()
	var want strings.Builder
	for _, s := range std.FindAllStringIndex(text, -1) {
		fmt.Fprintf(&want, "%d-%d ", s[0], s[1])
	}
	m := p.NewMatcher()
	if got := lineList(func(y func(int, int) bool) { m.Each([]byte(text), y) }); got != want.String() {
		t.Fatalf("%q in %q: %s, the standard library finds %s", p, text, got, want.String())
	}
	loc := std.FindStringSubmatchIndex(text)
	slots, ok := m.Captures([]byte(text), 0, nil)
	if ok != (loc != nil) || ok && fmt.Sprint(slots) != fmt.Sprint(loc) {
		t.Fatalf("%q in %q: groups %v, the standard library finds %v", p, text, slots, loc)
	}
	return loc != nil
}

func FuzzAgree(f *testing.F) {
	f.Add(`\w+\s+foo`, "a  foo\nb\r\n", false)
	f.Add(`^$`, "\r\n\n", false)
	f.Add(`(?i)sk|\bfoo\b`, "\u017fk éfoo foo\xff", true)
	f.Add(`[^a]+$`, "b\r\n", false)
	f.Fuzz(func(t *testing.T, expr, text string, fold bool) {
		opts := Options{SizeLimit: 1 << 20}
		if fold {
			opts.Case = Insensitive
		}
		if len(expr) > 200 || len(text) > 2000 {
			return
		}
		p, err := Compile(expr, opts)
		if err != nil {
			return
		}
		checkAgree(t, p, []byte(text))
	})
}

func FuzzStandardLibrary(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed, "foo ab\nbar FOO\n")
	}
	f.Fuzz(func(t *testing.T, seed uint64, text string) {
		if len(text) > 2000 || !utf8.ValidString(text) {
			return
		}
		g := seeded(seed, true)
		expr := g.pattern(1 + g.rng.IntN(5))
		p, err := Compile(expr, Options{Mode: Text})
		if err != nil {
			t.Fatalf("%q: %v", expr, err)
		}
		std := regexp.MustCompile(expr)
		checkStd(t, std, p, text)
		checkStd(t, std, p, g.text())
	})
}
