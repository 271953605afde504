package hir_test

import (
	"math/rand/v2"
	"testing"

	. "quarry/internal/re/hir"
	"quarry/internal/re/hir/hirtest"
)

func TestNewClassIsCanonical(t *testing.T) {
	for _, c := range []struct {
		name string
		in   *Class
		want string
	}{
		{"sorts", NewClass(Range{'x', 'z'}, Range{'a', 'c'}), "[a-cx-z]"},
		{"joins overlapping and touching", NewClass(Range{'a', 'f'}, Range{'c', 'h'}, Range{'i', 'k'}), "[a-k]"},
		{"drops reversed", NewClass(Range{'z', 'a'}), "[]"},
		{"cuts surrogates out", NewClass(Range{0xD700, 0xE001}), `[\x{D700}-\x{D7FF}\x{E000}\x{E001}]`},
		{"drops surrogates", NewClass(Range{0xD800, 0xDFFF}), "[]"},
		{"keeps to Unicode", NewClass(Range{-5, 0x7FFFFFFF}), `[\x00-\x{D7FF}\x{E000}-\x{10FFFF}]`},
		{"keeps to bytes", NewByteClass(Range{'a', 0x3FF}), `b[a-\xFF]`},
	} {
		if got := c.in.String(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestNewClassLeavesItsArgument(t *testing.T) {
	in := []Range{{'x', 'z'}, {'a', 'c'}}
	NewClass(in...)
	if in[0].Lo != 'x' {
		t.Errorf("argument reordered: %v", in)
	}
}

// TestAlgebra compares every set operation with the membership of single values.
func TestAlgebra(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		bytes := rng.IntN(2) == 0
		// Values around the surrogates, where mistakes are likely, or low ones.
		base := rune(0)
		if !bytes && rng.IntN(2) == 0 {
			base = 0xD7C0
		}
		top := base + 0x8FF
		if bytes {
			top = 0xFF
		}
		random := func() *Class {
			var rs []Range
			for range rng.IntN(6) {
				lo := base + rng.Int32N(top-base+1)
				rs = append(rs, Range{lo, min(top, lo+rng.Int32N(200))})
			}
			return Canonical(bytes, rs)
		}
		a, b := random(), random()
		for _, c := range []struct {
			name string
			got  *Class
			want func(x, y bool) bool
		}{
			{"union", a.Union(b), func(x, y bool) bool { return x || y }},
			{"intersect", a.Intersect(b), func(x, y bool) bool { return x && y }},
			{"difference", a.Difference(b), func(x, y bool) bool { return x && !y }},
			{"symmetric difference", a.SymmetricDifference(b), func(x, y bool) bool { return x != y }},
			{"negate", a.Negate(), func(x, y bool) bool { return !x }},
		} {
			if !c.got.IsEmpty() {
				if err := hirtest.CheckClass(c.got); err != nil {
					t.Fatalf("%s of %v and %v: %v", c.name, a, b, err)
				}
			}
			for r := base; r <= top; r++ {
				if r >= SurrogateLo && r <= SurrogateHi {
					continue
				}
				if got, want := c.got.Contains(r), c.want(a.Contains(r), b.Contains(r)); got != want {
					t.Fatalf("%s of %v and %v: contains %X = %v, want %v", c.name, a, b, r, got, want)
				}
			}
		}
	}
}

func TestAlgebraOfMixedASCII(t *testing.T) {
	word := NewClass(Range{'a', 'z'}, Range{0x3B1, 0x3C9})
	if got := word.Difference(NewByteClass(Range{'b', 'z'})).String(); got != `[a\x{3B1}-\x{3C9}]` {
		t.Errorf("scalar minus ASCII bytes: %s", got)
	}
}

func TestFoldASCII(t *testing.T) {
	for _, c := range []struct{ in, want *Class }{
		{NewByteClass(Range{'a', 'c'}), NewByteClass(Range{'A', 'C'}, Range{'a', 'c'})},
		{NewByteClass(Range{'X', 'b'}), NewByteClass(Range{'X', 'b'}, Range{'A', 'B'}, Range{'x', 'z'})},
		{NewByteClass(Range{'0', '9'}, Range{0xE9, 0xE9}), NewByteClass(Range{'0', '9'}, Range{0xE9, 0xE9})},
		{NewByteClass(Range{'K', 'K'}), NewByteClass(Range{'K', 'K'}, Range{'k', 'k'})},
	} {
		if got := c.in.FoldASCII(); !got.Equal(c.want) {
			t.Errorf("%v.FoldASCII() = %v, want %v", c.in, got, c.want)
		}
	}
}

func TestFold(t *testing.T) {
	for _, c := range []struct{ in, want *Class }{
		{NewClass(Range{'a', 'z'}), NewClass(Range{'a', 'z'}, Range{'A', 'Z'}, Range{'ſ', 'ſ'}, Range{0x212A, 0x212A})},
		{NewClass(Range{'σ', 'σ'}), NewClass(Range{'ς', 'σ'}, Range{'Σ', 'Σ'})},
		{NewClass(Range{'0', '9'}), NewClass(Range{'0', '9'})},
		{NewByteClass(Range{'k', 'k'}), NewByteClass(Range{'k', 'k'}, Range{'K', 'K'})},
		{AnyScalar(), AnyScalar()},
	} {
		if got := c.in.Fold(); !got.Equal(c.want) || !got.Fold().Equal(got) {
			t.Errorf("%v.Fold() = %v, want %v", c.in, got, c.want)
		}
	}
}

func TestClassQuestions(t *testing.T) {
	c := NewClass(Range{'a', 'c'}, Range{0x100, 0x100})
	if c.Len() != 4 || c.IsASCII() || c.IsEmpty() || !c.Contains('b') || c.Contains('d') || !c.Contains(0x100) {
		t.Errorf("%v: Len %d, IsASCII %v, IsEmpty %v", c, c.Len(), c.IsASCII(), c.IsEmpty())
	}
	if !AnyByte().Negate().IsEmpty() || !AnyScalar().Negate().IsEmpty() || AnyScalar().Len() != 0x110000-0x800 {
		t.Error("the full classes aren't full")
	}
}
