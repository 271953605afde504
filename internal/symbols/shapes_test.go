package symbols

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"quarry/internal/stress"
)

// shapes are texts that are repeated to 4 MB: what a reader would look ahead for to the
// end of the text, again and again.
var shapes = []string{
	"export const a = (\n", "struct { a: b,\n", "func f(a: b) -> {\n", "class A<B, C extends {\n", "a(b, c => {\n", "fn f<'a>(x: &'a T) where T: \n",
	"@a(b) public static void f(", "a<b<", "def f(a=[\n", "`${a(`", "case x: if (a) { let b = ", "#define A(x) \\\n",
}

// Every language reads every shape at 4 MB within two seconds of processor time, and
// ends within 100 ms once it is told to.
func TestShapes(t *testing.T) {
	seen := map[*language]bool{}
	share := stress.Size(24, 1)
	size, tried := 4<<20/stress.Size(8, 1), 0
	for _, ext := range slices.Sorted(maps.Keys(byExtension())) {
		l := byExtension()[ext]
		if seen[l] {
			continue
		}
		seen[l] = true
		for i, shape := range shapes {
			if i%share != len(seen)%share {
				continue
			}
			tried++
			text := []byte(strings.Repeat(shape, size/len(shape)+1))
			began := stress.CPU()
			Of("a"+ext, text)
			if took := stress.CPU() - began; took > 2*time.Second {
				t.Errorf("%s, %q: %v for %d KB", ext, shape, took, len(text)>>10)
			}
			var told time.Duration
			Until(func() bool {
				if told == 0 {
					told = stress.CPU()
				}
				return true
			}, "a"+ext, text)
			if took := stress.CPU() - told; told != 0 && took > 100*time.Millisecond {
				t.Errorf("%s, %q: goes on for %v after it was told to end", ext, shape, took)
			}
		}
	}
	t.Logf("%d texts of %d KB", tried, size>>10)
}
