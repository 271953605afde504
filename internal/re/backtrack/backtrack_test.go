package backtrack_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"quarry/internal/re/backtrack"
	"quarry/internal/re/nfa"
	"quarry/internal/re/nfa/nfatest"
	"quarry/internal/re/pike"
	"quarry/internal/stress"
)

// check compares one search with the Pike VM's.
func check(t *testing.T, name string, p *nfa.Prog, hay []byte, from, to int, anchored bool) {
	t.Helper()
	var vm pike.Cache
	var c backtrack.Cache
	want, got := make([]int, p.Slots), make([]int, p.Slots)
	wantMatch := vm.Find(p, pike.Input{Hay: hay, From: from, To: to, Anchored: anchored}, want) == pike.Match
	match, ok := c.Find(backtrack.New(p), hay, from, to, anchored, got)
	if !ok {
		return // the text is too long, and Fits says so
	}
	if match != wantMatch || match && fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("%s on %q[%d:%d] anchored %v: %v %v, pike %v %v", name, hay, from, to, anchored, match, got, wantMatch, want)
	}
	if is, _ := c.Find(backtrack.New(p), hay, from, to, anchored, nil); is != match {
		t.Fatalf("%s on %q: match %v without slots, %v with", name, hay, is, match)
	}
}

func TestPikeAgrees(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for range stress.Fewer(3000) {
		pattern := nfatest.Pattern(r, 4)
		node, err := nfatest.Parse(pattern)
		if err != nil {
			continue
		}
		if r.IntN(2) == 0 {
			node = nfatest.WithLooks(r, node)
			pattern += " with other assertions"
		}
		p := nfatest.Compile(t, node, nfa.Options{UTF8: r.IntN(2) == 0})
		for range 4 {
			hay := []byte(nfatest.Text(r, r.IntN(20), r.IntN(2) == 0))
			from := r.IntN(len(hay) + 1)
			to := from + r.IntN(len(hay)-from+1)
			check(t, pattern, p, hay, 0, len(hay), false)
			check(t, pattern, p, hay, from, to, r.IntN(3) == 0)
		}
	}
}

// A state with many ways, as in a lexer.
func TestManyWays(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for range stress.Fewer(1000) {
		var ways []string
		for range 4 + r.IntN(8) {
			ways = append(ways, "("+nfatest.Pattern(r, 1+r.IntN(2))+")")
		}
		pattern := strings.Join(ways, "|")
		if r.IntN(3) == 0 {
			pattern = "(?:" + pattern + ")+"
		}
		node, err := nfatest.Parse(pattern)
		if err != nil {
			continue
		}
		p := nfatest.Compile(t, node, nfa.Options{UTF8: r.IntN(2) == 0})
		for range 4 {
			hay := []byte(nfatest.Text(r, r.IntN(20), r.IntN(2) == 0))
			from := r.IntN(len(hay) + 1)
			check(t, pattern, p, hay, from, len(hay), r.IntN(2) == 0)
			check(t, pattern, p, hay, 0, from, false)
		}
	}
}

func FuzzPike(f *testing.F) {
	for _, s := range []string{"(a+)+$", "(a|aa)+b?", `\bab\B`, "(?i)ſk", "(?m)^a|b$", "(|a)*", "(?:a??){2,3}", "(a*)*(b|)+"} {
		f.Add(s, "aab\nſK a\xff")
	}
	f.Fuzz(func(t *testing.T, pattern, hay string) {
		node, err := nfatest.Parse(pattern)
		if err != nil || len(hay) > 200 || len(pattern) > 100 {
			return
		}
		p, err := nfa.Compile(node, nfa.Options{SizeLimit: 1 << 20})
		if err != nil {
			return
		}
		check(t, pattern, p, []byte(hay), 0, len(hay), false)
	})
}

func TestBounds(t *testing.T) {
	p := nfatest.Compile(t, nfatest.MustParse("(x+x+)+y"), nfa.Options{})
	e := backtrack.New(p)
	var c backtrack.Cache
	if !e.Fits(10000) || e.Fits(1<<30) {
		t.Errorf("fits 10,000 bytes: %v; fits 1 GB: %v", e.Fits(10000), e.Fits(1<<30))
	}
	if match, ok := c.Find(e, []byte(strings.Repeat("x", 10000)), 0, 10000, false, nil); match || !ok {
		t.Errorf("match %v, ok %v, want neither a match nor a refusal", match, ok)
	}
	long := []byte(strings.Repeat("x", 4<<20))
	if match, ok := c.Find(e, long, 0, len(long), false, nil); match || ok {
		t.Errorf("match %v, ok %v, want a refusal", match, ok)
	}
}

func TestWarmCacheAllocatesNothing(t *testing.T) {
	p := nfatest.Compile(t, nfatest.MustParse(`(\w+)\s+(\d*)`), nfa.Options{UTF8: true})
	e := backtrack.New(p)
	hay := []byte("hello  123 été")
	var c backtrack.Cache
	slots := make([]int, p.Slots)
	run := func() { c.Find(e, hay, 0, len(hay), false, slots) }
	run()
	if n := testing.AllocsPerRun(50, run); n != 0 {
		t.Errorf("%v allocations a search, want none", n)
	}
}

func BenchmarkSpans(b *testing.B) {
	hay := []byte("\tstatic inline int foo_bar(struct device *dev, unsigned long flags) /* été */")
	for _, pattern := range []string{`(\w+)\s*\((\w+)`, `[\pL_]+\s+\*[\pL_]+`, `unsigned|device|flags`} {
		p := nfatest.Compile(b, nfatest.MustParse(pattern), nfa.Options{})
		e := backtrack.New(p)
		slots := make([]int, p.Slots)
		b.Run("backtrack/"+pattern, func(b *testing.B) {
			var c backtrack.Cache
			b.SetBytes(int64(len(hay)))
			for b.Loop() {
				c.Find(e, hay, 0, len(hay), false, slots)
			}
		})
		b.Run("pike/"+pattern, func(b *testing.B) {
			var c pike.Cache
			b.SetBytes(int64(len(hay)))
			for b.Loop() {
				c.Find(p, pike.Input{Hay: hay, To: len(hay)}, slots)
			}
		})
	}
}
