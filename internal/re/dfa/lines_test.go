package dfa_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"quarry/internal/re/dfa"
	"quarry/internal/re/hir"
	"quarry/internal/re/nfa"
	"quarry/internal/re/nfa/nfatest"
	"quarry/internal/re/pike"
	"quarry/internal/stress"
)

// exact decides a line with the Pike VM.
func exact(p *nfa.Prog) func([]byte) bool {
	var vm pike.Cache
	return func(line []byte) bool {
		return vm.Find(p, pike.Input{Hay: line, To: len(line)}, nil) == pike.Match
	}
}

// naive defines the result of Lines: it matches each line separately.
func naive(hay []byte, match func([]byte) bool) []dfa.Line {
	var out []dfa.Line
	for at := 0; at < len(hay); {
		end := len(hay)
		if n := bytes.IndexByte(hay[at:], '\n'); n >= 0 {
			end = at + n
		}
		if match(hay[at:end]) {
			out = append(out, dfa.Line{Start: at, End: end})
		}
		at = end + 1
	}
	return out
}

func TestLinesAgreeWithPike(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	lock := 0
	for i, c := range randomCases(t, 2, stress.Fewer(1200)) {
		match := exact(c.p)
		size := 0
		if r.IntN(4) == 0 {
			size = 1
		}
		cache := dfa.NewLines(c.p, &dfa.Options{CacheSize: size}).NewCache(match)
		n := r.IntN(60)
		if i%40 == 0 {
			n, lock = 10000, lock+1 // enough for lock-step
		}
		hay := []byte(nfatest.Text(r, n, r.IntN(2) == 0))
		want := naive(hay, match)
		for round := range 2 { // cold and warm
			if got := cache.All(nil, hay); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("%s on %d bytes, round %d: %d lines, want %d\n%v\n%v", c.name, len(hay), round, len(got), len(want), head(got), head(want))
			}
		}
		var got []dfa.Line
		for at := 0; ; {
			line, ok := cache.Next(hay, at)
			if !ok {
				break
			}
			got = append(got, line)
			at = line.End + 1
		}
		if n < 100 {
			if one := naive(hay, cache.Match); fmt.Sprint(one) != fmt.Sprint(want) {
				t.Fatalf("%s on %q: Match gives %v, want %v", c.name, hay, one, want)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%s on %.200q: Next gives %v, want %v", c.name, hay, head(got), head(want))
		}
	}
	if lock == 0 {
		t.Error("no text was long enough for lock-step")
	}
}

func head(l []dfa.Line) []dfa.Line { return l[:min(len(l), 12)] }

func TestLineEdges(t *testing.T) {
	for _, c := range []struct {
		name, pattern, hay, want string
	}{
		{"an empty buffer has no line", "^$", "", "[]"},
		{"no line after the last newline", "^$", "a\n", "[]"},
		{"empty lines", "^$", "\n\na", "[{0 0} {1 1}]"},
		{"a last line without newline", "b$", "a\nb", "[{2 3}]"},
		{"the empty pattern matches every line", "", "a\n\nb", "[{0 1} {2 2} {3 4}]"},
		{"a match doesn't cross lines", `a\s*b`, "a\nb\na b", "[{4 7}]"},
		{"text anchors are the line's", `\Ab\z`, "a\nb\nc", "[{2 3}]"},
		{"nothing matches nothing", `[^\x00-\x{10FFFF}]`, "a\nb", "[]"},
		{"carriage returns belong to the line", "a\\r$", "a\r\na\n", "[{0 2}]"},
	} {
		p := nfatest.Compile(t, nfatest.MustParse(c.pattern), nfa.Options{})
		cache := dfa.NewLines(p, nil).NewCache(exact(p))
		if got := fmt.Sprint(cache.All(nil, []byte(c.hay))); got != c.want {
			t.Errorf("%s: %q on %q = %v, want %v", c.name, c.pattern, c.hay, got, c.want)
		}
	}
}

// A Unicode assertion is decided exactly on ASCII lines; decide is called only for other lines.
func TestDecideOnlyWhereNeeded(t *testing.T) {
	lit := &hir.Node{Op: hir.OpLiteral, Lit: []byte("foo")}
	b := &hir.Node{Op: hir.OpLook, Look: hir.LookWordUnicode}
	p := nfatest.Compile(t, &hir.Node{Op: hir.OpConcat, Subs: []*hir.Node{b, lit, b}}, nfa.Options{})
	match := exact(p)
	asked := 0
	cache := dfa.NewLines(p, nil).NewCache(func(line []byte) bool { asked++; return match(line) })
	hay := "foo bar\nfoobar\néfoo\n☃foo\né\nbarfoo"
	if got := fmt.Sprint(cache.All(nil, []byte(hay))); got != "[{0 7} {21 27}]" {
		t.Errorf("lines %v", got)
	}
	if asked != 2 {
		t.Errorf("decided %d lines, want the two with foo beside a high byte", asked)
	}
}

// The automaton of this pattern has more than 8,192 states. The machine must give up instead
// of rebuilding its cache every few bytes.
func TestThrashing(t *testing.T) {
	p := nfatest.Compile(t, nfatest.MustParse("[a-q][^u-z]{13}x"), nfa.Options{})
	match := exact(p)
	r := rand.New(rand.NewPCG(1, 1))
	var b strings.Builder
	for b.Len() < 300<<10 {
		for range 60 {
			b.WriteByte("abcrst"[r.IntN(6)])
		}
		b.WriteByte('\n')
	}
	hay := []byte(b.String())
	asked := 0
	cache := dfa.NewLines(p, &dfa.Options{CacheSize: 64 << 10}).NewCache(func(line []byte) bool { asked++; return match(line) })
	got, want := cache.All(nil, hay), naive(hay, match)
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%d lines, want %d", len(got), len(want))
	}
	if asked < 1000 {
		t.Errorf("decided %d lines of 4,900 by hand: the machine didn't give up", asked)
	}
}

// Caches share an immutable machine; the race detector checks that.
func TestSharedByWorkers(t *testing.T) {
	node := nfatest.MustParse(`\b[a-cé]+\b.*(?:ab|k)$`)
	p := nfatest.Compile(t, node, nfa.Options{})
	lines := dfa.NewLines(p, nil)
	finder := dfa.NewFinder(p, nfatest.Compile(t, node, nfa.Options{Reverse: true}), nil)
	hay := []byte(nfatest.Text(rand.New(rand.NewPCG(2, 2)), 20000, true))
	want := naive(hay, exact(p))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			cache, spans := lines.NewCache(exact(p)), finder.NewCache()
			got := cache.All(nil, hay)
			if !slices.Equal(got, want) {
				t.Errorf("%d lines, want %d", len(got), len(want))
			}
			for _, l := range got {
				if _, _, r := spans.Find(hay[l.Start:l.End], 0, l.End-l.Start, false); r != dfa.Match {
					t.Errorf("no span in %q", hay[l.Start:l.End])
				}
			}
		})
	}
	wg.Wait()
}

func TestWarmCacheAllocatesNothing(t *testing.T) {
	node := nfatest.MustParse(`\pL+\s\w*b$`)
	p := nfatest.Compile(t, node, nfa.Options{})
	cache := dfa.NewLines(p, nil).NewCache(exact(p))
	spans := dfa.NewFinder(p, nfatest.Compile(t, node, nfa.Options{Reverse: true}), nil).NewCache()
	hay := []byte(nfatest.Text(rand.New(rand.NewPCG(2, 2)), 20000, false))
	var lines []dfa.Line
	run := func() {
		lines = cache.All(lines[:0], hay)
		for _, l := range lines {
			spans.Find(hay, l.Start, l.End, false)
		}
	}
	run()
	if len(lines) == 0 {
		t.Fatal("no line matches")
	}
	if n := testing.AllocsPerRun(10, run); n != 0 {
		t.Errorf("%v allocations a buffer, want none", n)
	}
}
