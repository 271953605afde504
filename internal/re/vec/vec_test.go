package vec

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"quarry/internal/stress"
)

// levels lists the levels that this processor can run. Each test compares all of them with one
// plain reference.
func levels() []level {
	switch l := cpuLevel(); l {
	case avx512:
		return []level{generic, avx2, avx512}
	case generic:
		return []level{generic}
	default:
		return []level{generic, l}
	}
}

func TestNoSIMDForcesGeneric(t *testing.T) {
	if os.Getenv("VEC_TEST_CHILD") != "" {
		fmt.Println("kernels:", current())
		return
	}
	for _, c := range []struct{ env, want string }{
		{"QUARRY_NOSIMD=1", "generic"},
		{"QUARRY_NOSIMD=0", cpuLevel().String()},
		{"QUARRY_NOSIMD=", cpuLevel().String()},
	} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestNoSIMDForcesGeneric$", "-test.v")
		cmd.Env = append(os.Environ(), "VEC_TEST_CHILD=1", c.env)
		out, err := cmd.CombinedOutput()
		if errors.Is(err, syscall.ENOEXEC) {
			t.Skip("the test runs under an emulator, which a child would not")
		}
		if err != nil || !strings.Contains(string(out), "kernels: "+c.want+"\n") {
			t.Errorf("%s: want kernels %s, got %v:\n%s", c.env, c.want, err, out)
		}
	}
}

// naiveFind defines the results of Find, also with folding.
func naiveFind(hay, needle []byte, from int, fold bool) int {
	for i := max(from, 0); from >= 0 && i+len(needle) <= len(hay); i++ {
		if naiveAt(hay[i:], needle, fold) {
			return i
		}
	}
	return -1
}

func naiveAt(hay, needle []byte, fold bool) bool {
	if len(needle) > len(hay) {
		return false
	}
	for j, c := range needle {
		h := hay[j]
		if fold && 'A' <= h && h <= 'Z' {
			h += 'a' - 'A'
		}
		if fold && 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if h != c {
			return false
		}
	}
	return true
}

// random returns n random bytes from alphabet.
func random(r *rand.Rand, n int, alphabet string) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[r.IntN(len(alphabet))]
	}
	return b
}

// finder is one literal search at one level.
type finder struct {
	name string
	fold bool
	find func(hay []byte, from int) int
}

func finders(needle []byte) []finder {
	var fs []finder
	for _, l := range levels() {
		fs = append(fs,
			finder{l.String(), false, newFinder(needle, l).Find},
			finder{l.String() + " fold", true, newFoldFinder(needle, l).Find})
	}
	if len(needle) > 0 {
		fs = append(fs,
			finder{"two-way", false, newTwoWay(needle, nil).find},
			finder{"two-way fold", true, newTwoWay(lowered(needle), &lower).find})
	}
	return fs
}

// checkAll finds every occurrence, overlapping ones too, with every finder.
func checkAll(t *testing.T, hay, needle []byte) {
	t.Helper()
	for _, f := range finders(needle) {
		for from := 0; from <= len(hay); {
			want := naiveFind(hay, needle, from, f.fold)
			if got := f.find(hay, from); got != want {
				t.Fatalf("%s: Find(%q, %d) for %q = %d, want %d", f.name, hay, from, needle, got, want)
			}
			if want < 0 {
				break
			}
			from = want + 1
		}
	}
}

func TestFindCases(t *testing.T) {
	for _, c := range []struct {
		name, needle, hay string
		from, want        int
		fold              bool
	}{
		{"an empty needle is at from", "", "abc", 2, 2, false},
		{"an empty needle is at the end", "", "abc", 3, 3, false},
		{"nothing past the end", "", "abc", 4, -1, false},
		{"nothing before the beginning", "a", "abc", -1, -1, false},
		{"needle as long as the text", "abc", "abc", 0, 0, false},
		{"needle longer than the text", "abcd", "abc", 0, -1, false},
		{"case counts", "abc", "ABC abc", 0, 4, false},
		{"case does not count", "aBc", "AbC abc", 0, 0, true},
		{"only letters fold", "[{@`", "{[`@ [{@`", 0, 5, true},
		{"no Unicode folding", "k", "\u212a k", 0, 4, true},
		{"bytes above ASCII match themselves", "é", "É é", 0, 3, true},
		{"from skips a match", "ab", "ab ab", 1, 3, false},
	} {
		for _, f := range finders([]byte(c.needle)) {
			if f.fold != c.fold || strings.HasPrefix(f.name, "two-way") {
				continue
			}
			if got := f.find([]byte(c.hay), c.from); got != c.want {
				t.Errorf("%s, %s: Find(%q, %q, %d) = %d, want %d", c.name, f.name, c.hay, c.needle, c.from, got, c.want)
			}
		}
	}
}

// TestFindPlanted puts a needle of every length up to 40 at every position of texts of every
// length up to 200, which covers every position in a block.
func TestFindPlanted(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 41 {
		if !stress.Takes(n) && n > 8 && testing.Short() {
			continue
		}
		needle := random(r, n, "abcdEFGH_1")
		fs := finders(needle)
		for size := n; size <= 200; size++ {
			if n > 4 && n != 8 && n != 17 && size%7 != 0 {
				continue
			}
			hay := bytes.Repeat([]byte{'.'}, size)
			for at := 0; at+n <= size; at++ {
				copy(hay[at:], needle)
				for _, f := range fs {
					if got := f.find(hay, 0); got != naiveFind(hay, needle, 0, f.fold) {
						t.Fatalf("%s: Find(%q) for %q = %d, want %d", f.name, hay, needle, got, at)
					}
				}
				copy(hay[at:at+n], bytes.Repeat([]byte{'.'}, n))
			}
		}
	}
}

// TestFindRandom uses alphabets so small that nearly every position is a candidate.
func TestFindRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for i := range stress.N(6000) {
		alphabet := []string{"ab", "aA", "aab", "abAB", "abcdefghij\n ", "sK\xc5\xbf\xe2\x84\xaa"}[i%6]
		hay := random(r, r.IntN(400), alphabet)
		needle := random(r, r.IntN(30), alphabet)
		if i%3 == 0 && len(hay) > 0 {
			at := r.IntN(len(hay))
			needle = hay[at : at+r.IntN(min(40, len(hay)-at+1))]
		}
		checkAll(t, hay, needle)
	}
}

// TestFindAdversarial searches for long needles that fail late, in texts with very many
// candidates. Quadratic work on the last of these takes over ten seconds, even at the speed of
// the standard library's comparisons.
func TestFindAdversarial(t *testing.T) {
	stress.SkipShort(t)
	const n = 1 << 20
	a := strings.Repeat("a", n)
	half := strings.Repeat("a", n/4)
	for _, c := range []struct {
		name, hay, needle string
		want              int
	}{
		{"last byte differs", a, half + "b", -1},
		{"first byte differs", a, "b" + half, -1},
		{"a middle byte differs", strings.Repeat("ab", n/2), strings.Repeat("ab", n/16) + "bb" + strings.Repeat("ab", n/16), -1},
		{"found after the give-up", a + "aabaa", strings.Repeat("a", 300) + "b", n + 2 - 300},
		{"ends agree, middle does not", strings.Repeat("abcdefghX", n), strings.Repeat("abcdefghX", n/12) + "abcdeXghX" + strings.Repeat("abcdefghX", n/40), -1},
	} {
		hay := []byte(c.hay)
		for _, f := range finders([]byte(c.needle)) {
			start := stress.CPU()
			if got := f.find(hay, 0); got != c.want {
				t.Errorf("%s, %s: found at %d, want %d", c.name, f.name, got, c.want)
			}
			if d := stress.CPU() - start; d > 5*time.Second {
				t.Errorf("%s, %s: took %v", c.name, f.name, d)
			}
		}
	}
}

func FuzzFind(f *testing.F) {
	f.Add([]byte("hello World, hello"), []byte("hello"))
	f.Add([]byte("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"), []byte("aaaaaaaaaaaaaaaaaaab"))
	f.Add([]byte(strings.Repeat("xyzzy ", 40)), []byte("Y X"))
	f.Fuzz(func(t *testing.T, hay, needle []byte) {
		if len(hay) > 2000 {
			hay = hay[:2000]
		}
		checkAll(t, hay, needle)
	})
}
