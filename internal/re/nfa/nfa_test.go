package nfa_test

import (
	"errors"
	"slices"
	"testing"
	"unicode/utf8"

	"quarry/internal/re/hir"
	"quarry/internal/re/nfa"
	"quarry/internal/re/nfa/nfatest"
	"quarry/internal/stress"
)

// accepts runs p over text from Start, without assertions.
func accepts(p *nfa.Prog, text []byte) bool {
	cur := closure(p, []nfa.ID{p.Start})
	for _, b := range text {
		var next []nfa.ID
		for _, id := range cur {
			s := &p.States[id]
			switch s.Op {
			case nfa.OpRange:
				if s.Lo <= b && b <= s.Hi {
					next = append(next, s.A)
				}
			case nfa.OpSparse:
				if to, ok := p.Next(s, b); ok {
					next = append(next, to)
				}
			}
		}
		cur = closure(p, next)
	}
	return slices.ContainsFunc(cur, func(id nfa.ID) bool { return p.States[id].Op == nfa.OpMatch })
}

func closure(p *nfa.Prog, todo []nfa.ID) []nfa.ID {
	var set []nfa.ID
	for len(todo) > 0 {
		id := todo[0]
		todo = todo[1:]
		if slices.Contains(set, id) {
			continue
		}
		set = append(set, id)
		switch s := &p.States[id]; s.Op {
		case nfa.OpSplit:
			todo = append(todo, s.A, s.B)
		case nfa.OpUnion:
			todo = append(todo, p.Alts[s.A:s.B]...)
		case nfa.OpCapture:
			todo = append(todo, s.A)
		}
	}
	return set
}

// Every scalar value is accepted exactly if it is in the class, forwards and backwards. Other
// byte sequences are never accepted.
func TestClassIsItsUTF8(t *testing.T) {
	for _, pattern := range []string{
		`[a-z]`, `[^a]`, `\pL`, `[é]`, `[\x{80}-\x{7FF}]`, `[\x{7FF}-\x{800}]`, `[\x{FFFF}-\x{10000}]`, `(?s:.)`,
		`[\x{1005}-\x{2FFF}]`, `[\x{D000}-\x{E001}]`, `[\x{10FFFF}]`, `\p{Greek}`, `[\x{12345}-\x{10ABCD}]`, `[A-Z\x{3040}-\x{FF00}]`,
	} {
		n := nfatest.MustParse(pattern)
		fwd, err := nfa.Compile(n, nfa.Options{})
		if err != nil {
			t.Fatal(err)
		}
		rev, err := nfa.Compile(n, nfa.Options{Reverse: true})
		if err != nil {
			t.Fatal(err)
		}
		step := rune(stress.Size(7, 1))
		for r := rune(0); r <= utf8.MaxRune; r += step {
			if r > 0x3000 && r < 0x10FF00 && r%61 != 0 && r&0xFFF > 2 && r&0xFFF < 0xFFE {
				continue // test the ends of blocks, and a sample of the rest
			}
			if r >= 0xD800 && r <= 0xDFFF {
				continue
			}
			in := false
			if n.Op == hir.OpClass {
				for _, x := range n.Class.Ranges {
					in = in || x.Lo <= r && r <= x.Hi
				}
			} else {
				in = string(n.Lit) == string(r)
			}
			text := []byte(string(r))
			if got := accepts(fwd, text); got != in {
				t.Fatalf("%s: %U forwards: %v, want %v", pattern, r, got, in)
			}
			slices.Reverse(text)
			if got := accepts(rev, text); got != in {
				t.Fatalf("%s: %U backwards: %v, want %v", pattern, r, got, in)
			}
		}
		for _, bad := range []string{"", "\xff", "\x80", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x98", "ab"} {
			if accepts(fwd, []byte(bad)) {
				t.Errorf("%s accepts %q", pattern, bad)
			}
		}
	}
}

func TestClassesTellNothingApart(t *testing.T) {
	p, err := nfa.Compile(nfatest.MustParse(`[a-f]x|\pL`), nfa.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if p.NumClasses > 160 || p.NumClasses < 4 {
		t.Errorf("%d classes", p.NumClasses)
	}
	if p.Classes['b'] != p.Classes['f'] || p.Classes['f'] == p.Classes['g'] || p.Classes[0] == p.Classes['a'] {
		t.Errorf("classes: b %d f %d g %d NUL %d", p.Classes['b'], p.Classes['f'], p.Classes['g'], p.Classes[0])
	}
}

func TestAnchors(t *testing.T) {
	for _, c := range []struct {
		pattern          string
		start, line, end bool
	}{
		{"^a", true, true, false},
		{"(?m)^a", false, true, false},
		{"(^a|^b)", true, true, false},
		{"^a|b", false, false, false},
		{"(?:^a)*", false, false, false},
		{"(?:^a)+$", true, true, true},
		{`\b^a`, true, true, false},
		{"a$|b$", false, false, true},
	} {
		p, err := nfa.Compile(nfatest.MustParse(c.pattern), nfa.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if p.AnchoredStart != c.start || p.LineAnchored != c.line || p.AnchoredEnd != c.end {
			t.Errorf("%s: start %v line %v end %v, want %v %v %v", c.pattern,
				p.AnchoredStart, p.LineAnchored, p.AnchoredEnd, c.start, c.line, c.end)
		}
	}
}

func TestFirstBytes(t *testing.T) {
	p, err := nfa.Compile(nfatest.MustParse(`\b(?:foo|[xy]+|é)`), nfa.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []byte
	for b, in := range p.First {
		if in {
			got = append(got, byte(b))
		}
	}
	if string(got) != "fxy\xc3" || p.Nullable {
		t.Errorf("first bytes %q, nullable %v", got, p.Nullable)
	}
}

// Relax makes the given assertions hold everywhere and doesn't change others.
func TestRelax(t *testing.T) {
	look := func(l hir.Look) *hir.Node { return &hir.Node{Op: hir.OpLook, Look: l} }
	n := &hir.Node{Op: hir.OpConcat, Subs: []*hir.Node{
		look(hir.LookStart), look(hir.LookWordUnicode), {Op: hir.OpLiteral, Lit: []byte("a")}, look(hir.LookWordASCII),
	}}
	p, err := nfa.Compile(n, nfa.Options{Relax: nfa.LooksUnicode})
	if err != nil {
		t.Fatal(err)
	}
	if want := nfa.LookSet(1<<hir.LookStart | 1<<hir.LookWordASCII); p.Looks != want {
		t.Errorf("assertions %b, want %b", p.Looks, want)
	}
}

func TestSizeLimit(t *testing.T) {
	n := nfatest.MustParse(`\pL{200}`)
	if _, err := nfa.Compile(n, nfa.Options{SizeLimit: 1 << 16}); !errors.Is(err, nfa.ErrTooLarge) {
		t.Errorf("error %v, want ErrTooLarge", err)
	}
	if _, err := nfa.Compile(n, nfa.Options{}); err != nil {
		t.Error(err)
	}
}

func BenchmarkCompile(b *testing.B) {
	for _, pattern := range []string{`abc`, `\pL`, `\pL{100}`} {
		n := nfatest.MustParse(pattern)
		b.Run(pattern, func(b *testing.B) {
			for b.Loop() {
				p, err := nfa.Compile(n, nfa.Options{})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(len(p.States)), "states")
			}
		})
	}
}
