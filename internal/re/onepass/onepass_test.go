package onepass_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"quarry/internal/re/backtrack"
	"quarry/internal/re/nfa"
	"quarry/internal/re/nfa/nfatest"
	"quarry/internal/re/onepass"
	"quarry/internal/re/pike"
	"quarry/internal/stress"
)

// check compares a match at a position with the Pike VM's.
func check(t *testing.T, name string, p *nfa.Prog, e *onepass.Engine, hay []byte, from, to int) {
	t.Helper()
	var vm pike.Cache
	var c onepass.Cache
	for _, n := range []int{p.Slots, 4, 2, 0} {
		n = min(n, p.Slots)
		want, got := make([]int, n), make([]int, n)
		wantMatch := vm.Find(p, pike.Input{Hay: hay, From: from, To: to, Anchored: true}, want) == pike.Match
		match := c.Find(e, hay, from, to, got)
		if match != wantMatch || match && fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%s on %q[%d:%d]: %v %v, pike %v %v", name, hay, from, to, match, got, wantMatch, want)
		}
	}
}

func TestPikeAgrees(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	tried := 0
	for range stress.Fewer(6000) {
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
		e := onepass.New(p)
		if e == nil {
			continue
		}
		tried++
		for range 6 {
			hay := []byte(nfatest.Text(r, r.IntN(20), r.IntN(2) == 0))
			from := r.IntN(len(hay) + 1)
			to := from + r.IntN(len(hay)-from+1)
			check(t, pattern, p, e, hay, 0, len(hay))
			check(t, pattern, p, e, hay, from, len(hay))
			check(t, pattern, p, e, hay, from, to)
		}
	}
	if tried < stress.Fewer(1000) {
		t.Errorf("only %d patterns were for this engine", tried)
	}
}

// Patterns that need a choice are refused, others are accepted.
func TestWhichPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern string
		want    bool
	}{
		{`^([0-9A-F]+);([^;]*);(.*)$`, true},
		{`(\d+)-(\d+)(?:-(\d+))?`, true},
		{`(a|b)*c`, true},
		{`(\w+)\s+(\w+)`, true},
		{`(a*)(b*?)$`, true},
		{`(a)|(b)|(c+)d`, true},
		{`(a*)(a)`, false},
		{`(a|ab)c`, true}, // the tree is a(?:|b)c
		{`(a|[ab]b)c`, false},
		{`(\w+)(.*)`, false},
		{`(.*)=(.*)`, false},
		{`(a*)*`, false},
	} {
		p := nfatest.Compile(t, nfatest.MustParse(c.pattern), nfa.Options{})
		if got := onepass.New(p) != nil; got != c.want {
			t.Errorf("%s: for this engine %v, want %v", c.pattern, got, c.want)
		}
	}
}

// Tables have a size limit.
func TestTooLarge(t *testing.T) {
	p := nfatest.Compile(t, nfatest.MustParse(`(?:(\pL)\d){30}`), nfa.Options{})
	if onepass.New(p) != nil {
		t.Errorf("a table was made for %d states", len(p.States))
	}
	p = nfatest.Compile(t, nfatest.MustParse(strings.Repeat("(a)", 3000)), nfa.Options{SizeLimit: 4 << 30})
	if onepass.New(p) != nil {
		t.Errorf("a table was made for %d slots", p.Slots)
	}
}

func FuzzPike(f *testing.F) {
	for _, s := range []string{"^(a+);(b*)$", "(a|b)*?c", `(\b\w+)\B`, "(?i)(ſk)", "(?m)^(a|b$)", "(?:(a)|(b))+", "(?:(a)??b){2,3}", `(?:(a)\b|b)*`} {
		f.Add(s, "aab\nſK a\xff", uint8(0), uint8(9))
	}
	f.Fuzz(func(t *testing.T, pattern, hay string, from, to uint8) {
		node, err := nfatest.Parse(pattern)
		if err != nil || len(hay) > 200 || len(pattern) > 100 {
			return
		}
		p, err := nfa.Compile(node, nfa.Options{SizeLimit: 1 << 20, UTF8: len(hay)%2 == 0})
		if err != nil {
			return
		}
		e := onepass.New(p)
		if e == nil {
			return
		}
		check(t, pattern, p, e, []byte(hay), 0, len(hay))
		if int(from) <= int(to) && int(to) <= len(hay) {
			check(t, pattern, p, e, []byte(hay), int(from), int(to))
		}
	})
}

func TestWarmCacheAllocatesNothing(t *testing.T) {
	p := nfatest.Compile(t, nfatest.MustParse(`(?:(\w+)\s+(\d*);)+`), nfa.Options{UTF8: true})
	e := onepass.New(p)
	hay := []byte("hello  123;été 1;")
	var c onepass.Cache
	slots := make([]int, p.Slots)
	run := func() {
		if !c.Find(e, hay, 0, len(hay), slots) {
			t.Fatal("no match")
		}
	}
	run()
	if n := testing.AllocsPerRun(50, run); n != 0 {
		t.Errorf("%v allocations a search, want none", n)
	}
}

func BenchmarkGroups(b *testing.B) {
	hay := []byte("00C5;LATIN CAPITAL LETTER A WITH RING ABOVE;Lu;0;L;0041 030A;;;;N;LATIN CAPITAL LETTER A RING;;;00E5;")
	p := nfatest.Compile(b, nfatest.MustParse(`^([0-9A-F]+);([^;]+);([^;]+);(.*)$`), nfa.Options{})
	slots := make([]int, p.Slots)
	b.Run("onepass", func(b *testing.B) {
		var c onepass.Cache
		e := onepass.New(p)
		b.SetBytes(int64(len(hay)))
		for b.Loop() {
			c.Find(e, hay, 0, len(hay), slots)
		}
	})
	b.Run("backtrack", func(b *testing.B) {
		var c backtrack.Cache
		e := backtrack.New(p)
		b.SetBytes(int64(len(hay)))
		for b.Loop() {
			c.Find(e, hay, 0, len(hay), true, slots)
		}
	})
	b.Run("build", func(b *testing.B) {
		p := nfatest.Compile(b, nfatest.MustParse(`\w+(\s+)\w+`), nfa.Options{})
		for b.Loop() {
			onepass.New(p)
		}
		b.ReportMetric(float64(len(p.States)), "states")
	})
}
