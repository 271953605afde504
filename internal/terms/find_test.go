package terms

import (
	"bytes"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// TestFinder compares the parts found with all parts that begin with a term.
func TestFinder(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	letters := []byte("abABsS12__  \n.é中")
	found := 0
	for range 40_000 {
		text := make([]byte, r.IntN(40))
		for i := range text {
			text[i] = letters[r.IntN(len(letters))]
		}
		var list []string
		for range 1 + r.IntN(3) {
			term := make([]byte, 1+r.IntN(3))
			for i := range term {
				term[i] = letters[r.IntN(8)]
			}
			list = append(list, string(AppendFolded(nil, term)))
		}
		var want, got [][2]int
		EachPart(text, func(start, end int, _ bool) {
			if slices.ContainsFunc(list, func(s string) bool { return bytes.HasPrefix(AppendFolded(nil, text[start:]), []byte(s)) }) {
				want = append(want, [2]int{start, end})
			}
		})
		NewFinder(list).Each(text, func(start, end int) { got = append(got, [2]int{start, end}) })
		if !slices.Equal(got, want) {
			t.Fatalf("%q of %q: %v, want %v", list, text, got, want)
		}
		found += len(got)
	}
	if found < 5_000 {
		t.Errorf("only %d parts were found", found)
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		text string
		want int
	}{{"", 0}, {"_ ", 0}, {"a", 1}, {"getUserNames", 3}, {"a b c d e", 4}} {
		if got := Distance([]byte(c.text), 4); got != c.want {
			t.Errorf("%q: %d parts, want %d", c.text, got, c.want)
		}
	}
}

func BenchmarkFinder(b *testing.B) {
	text, err := os.ReadFile(os.Getenv("QUARRY_CORPUS"))
	if err != nil {
		b.Skip("set QUARRY_CORPUS to a large source text to measure how fast terms are found")
	}
	d := NewFinder([]string{"rout", "match", "path", "get", "dev"})
	b.Run("find", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			d.Each(text, func(int, int) {})
		}
	})
	b.Run("each", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			n := 0
			EachPart(text, func(start, end int, _ bool) {
				if text[start] == 'r' || text[start] == 'm' || text[start] == 'p' || text[start] == 'g' || text[start] == 'd' {
					n++
				}
			})
		}
	})
}
