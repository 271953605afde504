package vec

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"quarry/internal/stress"
)

// naiveMulti defines the result of a leftmost-first search.
func naiveMulti(hay []byte, lits [][]byte, from int, fold bool) (int, int) {
	for i := from; from >= 0 && i <= len(hay); i++ {
		for k, lit := range lits {
			if naiveAt(hay[i:], lit, fold) {
				return i, k
			}
		}
	}
	return -1, -1
}

// multi is one search for a set at one level.
type multi struct {
	name string
	find func(hay []byte, from int) (int, int)
}

func multis(lits [][]byte, fold bool) []multi {
	var ms []multi
	for _, l := range levels() {
		ms = append(ms, multi{"multi " + l.String(), newMulti(lits, fold, l).Find})
		if t, ok := newTeddy(newLitSet(lits, fold), l); ok {
			ms = append(ms, multi{"teddy " + l.String(), t.Find})
		}
	}
	s := newLitSet(lits, fold)
	if len(s.lits) > 0 && s.minLen > 0 {
		ms = append(ms,
			multi{"hashed", func(hay []byte, from int) (int, int) { return s.hashed().find(hay, from, s) }},
			multi{"automaton", func(hay []byte, from int) (int, int) { return s.automaton().find(hay, from, s) }})
	}
	return ms
}

func checkMulti(t *testing.T, hay []byte, lits [][]byte, fold bool) {
	t.Helper()
	ms := multis(lits, fold)
	for from := 0; from <= len(hay); {
		pos, lit := naiveMulti(hay, lits, from, fold)
		for _, m := range ms {
			if p, l := m.find(hay, from); p != pos || l != lit {
				t.Fatalf("%s, fold %v: Find(%q, %d) for %q = %d, %d, want %d, %d", m.name, fold, hay, from, lits, p, l, pos, lit)
			}
		}
		if pos < 0 {
			break
		}
		from = pos + 1
	}
}

func split(s string) [][]byte {
	var lits [][]byte
	for f := range strings.SplitSeq(s, "|") {
		lits = append(lits, []byte(f))
	}
	return lits
}

func TestMultiCases(t *testing.T) {
	for _, c := range []struct {
		name, lits, hay string
		fold            bool
		from, pos, lit  int
	}{
		{"leftmost wins over first", "two|one", "one two", false, 0, 0, 1},
		{"at one place the first wins", "sam|samwise", "samwise", false, 0, 0, 0},
		{"also when it is the longer", "samwise|sam", "samwise", false, 0, 0, 0},
		{"the shorter when the longer is not there", "samwise|sam", "samson", false, 0, 0, 1},
		{"a longer one that begins earlier", "b|abc", "xabc", false, 0, 1, 1},
		{"one inside of a failing one", "abcd|bc", "abcx", false, 0, 1, 1},
		{"an empty literal", "x|", "abx", false, 0, 0, 1},
		{"an empty literal after one that is there", "a|", "abx", false, 0, 0, 0},
		{"an empty literal at the end", "x|", "ab", false, 2, 2, 1},
		{"duplicates give the first", "ab|ab", "ab", false, 0, 0, 0},
		{"folded duplicates too", "AB|ab", "aB", true, 0, 0, 0},
		{"single bytes", "c|b", "abc", false, 0, 1, 1},
		{"single bytes folded", "C|b", "aBc", true, 0, 1, 1},
		{"single bytes, none", "x|y", "abc", false, 0, -1, -1},
		{"one literal", "bc", "abc", false, 0, 1, 0},
		{"one literal, none", "bd", "abc", false, 0, -1, -1},
		{"from after the match", "ab|bc", "abc", false, 2, -1, -1},
		{"from outside", "ab|bc", "abc", false, 4, -1, -1},
	} {
		for _, l := range levels() {
			pos, lit := newMulti(split(c.lits), c.fold, l).Find([]byte(c.hay), c.from)
			if pos != c.pos || lit != c.lit {
				t.Errorf("%s, %v: Find(%q, %q, %d) = %d, %d, want %d, %d", c.name, l, c.hay, c.lits, c.from, pos, lit, c.pos, c.lit)
			}
		}
		checkMulti(t, []byte(c.hay), split(c.lits), c.fold)
		checkMulti(t, []byte(strings.Repeat(".", 150)+c.hay+strings.Repeat(".", 150)), split(c.lits), c.fold)
	}
	if pos, lit := NewMulti(nil, false).Find([]byte("abc"), 0); pos != -1 || lit != -1 {
		t.Errorf("no literals: found %d at %d", lit, pos)
	}
}

func TestTeddyRefuses(t *testing.T) {
	many := make([][]byte, 65)
	for i := range many {
		many[i] = fmt.Appendf(nil, "lit%02d", i)
	}
	for _, c := range []struct {
		name string
		lits [][]byte
		want bool
	}{
		{"none", nil, false},
		{"an empty one", split("a|"), false},
		{"64", many[:64], true},
		{"65", many, false},
		{"65 of which one is not needed", append(many[:64:64], many[0]), true},
	} {
		if _, ok := newTeddy(newLitSet(c.lits, false), current()); ok != c.want {
			t.Errorf("%s: newTeddy says %v, want %v", c.name, ok, c.want)
		}
	}
}

// TestMultiPlanted puts each literal at each position of texts of all lengths up to 200.
func TestMultiPlanted(t *testing.T) {
	stress.SkipTiny(t)
	for _, c := range []struct {
		lits string
		fold bool
	}{
		{"PM_SUSPEND|PM_RESUME|suspend|res", false},
		{"q|xyz", false},
		{"zz|xyz", true},
		{"first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth", true},
		{"tail of a long literal that has its rare Q here|Qu", false},
	} {
		lits := split(c.lits)
		ms := multis(lits, c.fold)
		for size := range 201 {
			hay := []byte(strings.Repeat(".", size))
			for k, lit := range lits {
				for at := k % 3; at+len(lit) <= size; at += 3 {
					copy(hay[at:], lit)
					pos, want := naiveMulti(hay, lits, 0, c.fold)
					for _, m := range ms {
						if p, l := m.find(hay, 0); p != pos || l != want {
							t.Fatalf("%s: %q at %d of %d: got %d at %d", m.name, lit, at, size, l, p)
						}
					}
					copy(hay[at:at+len(lit)], strings.Repeat(".", len(lit)))
				}
			}
		}
	}
}

func TestMultiRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for i := range stress.N(3000) {
		alphabet := []string{"ab", "abAB", "abcdefgh ", "sK\xc5\xbf\xe2\x84\xaa", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"}[i%5]
		hay := random(r, r.IntN(300), alphabet)
		lits := make([][]byte, 1+r.IntN([]int{3, 8, 20, 64, 150}[i%7%5]))
		shortest := 1 + r.IntN(6)
		for k := range lits {
			lits[k] = random(r, shortest+r.IntN(1+r.IntN(20)), alphabet)
			if n := len(lits[k]); k%2 == 0 && len(hay) > n {
				at := r.IntN(len(hay) - n)
				lits[k] = slices.Clone(hay[at : at+n])
			}
		}
		checkMulti(t, hay, lits, i%2 == 0)
	}
}

// TestMultiAdversarial searches texts in which nearly all positions are candidates and
// comparisons fail late. Quadratic work would take minutes.
func TestMultiAdversarial(t *testing.T) {
	const n = 1 << 19
	a := strings.Repeat("a", n)
	long := strings.Repeat("a", 20_000)
	many := make([]string, 3000)
	for i := range many {
		many[i] = fmt.Sprintf("%saaaa%04d", strings.Repeat("a", 40), i)
	}
	for _, c := range []struct{ name, hay, lits string }{
		{"one late byte differs", a, long + "b" + long + "|" + long + "c" + long},
		{"thousands with one beginning", a, strings.Join(many, "|")},
		{"a dozen with one beginning", a, strings.Join(many[:12], "|")},
	} {
		for _, m := range multis(split(c.lits), false) {
			start := stress.CPU()
			if pos, lit := m.find([]byte(c.hay), 0); pos != -1 || lit != -1 {
				t.Errorf("%s, %s: found %d at %d, want none", c.name, m.name, lit, pos)
			}
			if d := stress.CPU() - start; d > 5*time.Second {
				t.Errorf("%s, %s: took %v", c.name, m.name, d)
			}
		}
	}
}

func FuzzMulti(f *testing.F) {
	f.Add([]byte("samwise and sam"), "sam|samwise", true)
	f.Add([]byte(strings.Repeat("abcabd", 30)), "abd|c|bca", false)
	f.Add([]byte(strings.Repeat("aaaaaaab", 20)), "aab|b|", true)
	f.Fuzz(func(t *testing.T, hay []byte, lits string, fold bool) {
		checkMulti(t, hay[:min(len(hay), 1000)], split(lits), fold)
	})
}
