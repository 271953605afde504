package splice

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// Several lists of splices, applied one after the other, give the same text as the
// resulting splices of the base.
func TestText(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		base := make([]byte, rng.IntN(30))
		for i := range base {
			base[i] = byte('a' + i%26)
		}
		pieces, now := Base(len(base)), base
		for range rng.IntN(5) {
			var list []Splice
			for at := 0; at <= len(now) && rng.IntN(4) > 0; {
				start := at + rng.IntN(len(now)-at+1)
				end := start + rng.IntN(len(now)-start+1)
				list = append(list, Splice{Span{start, end}, "XYZ"[:rng.IntN(4)]})
				at = end + 1
			}
			next, err := Apply(now, list)
			if err != nil {
				t.Fatal(err)
			}
			pieces, now = pieces.Apply(list), next
		}
		got, err := Apply(base, pieces.Splices(len(base)))
		if err != nil || !bytes.Equal(got, now) {
			t.Fatalf("%q, %v; want %q", got, err, now)
		}
	}
}

func TestApplyRefuses(t *testing.T) {
	for _, bad := range [][]Splice{{{Span{0, 2}, ""}, {Span{1, 3}, ""}}, {{Span{5, 11}, ""}}, {{Span{3, 2}, ""}}, {{Span{-1, 2}, ""}}} {
		if _, err := Apply([]byte("0123456789"), bad); err == nil {
			t.Errorf("%v: no error", bad)
		}
	}
}
