package version

import (
	"math/rand/v2"
	"testing"

	"quarry/internal/stress"
)

func TestSumOfEditedContent(t *testing.T) {
	stress.SkipShort(t)
	rng := rand.New(rand.NewPCG(3, 4))
	for _, size := range []int{0, 1, sumStep - 1, sumStep, sumStep + 1, 3*sumStep + 17} {
		data := make([]byte, size)
		rand.NewChaCha8([32]byte{byte(size)}).Read(data)
		s := SumOf(data)
		for range 30 {
			var edits []Edit
			var want []byte
			at := 0
			for range rng.IntN(4) {
				off := at + rng.IntN(size-at+1)
				n := rng.IntN(size - off + 1)
				e := Edit{Off: int64(off), Len: int64(n), Data: make([]byte, rng.IntN(100))}
				want = append(append(want, data[at:off]...), e.Data...)
				edits, at = append(edits, e), off+n
			}
			want = append(want, data[at:]...)
			if got := s.Edited(edits); got != Of(want) {
				t.Fatalf("%d bytes, %d edits: another version", size, len(edits))
			}
		}
		if s.Version() != Of(data) {
			t.Errorf("%d bytes: another version", size)
		}
	}
}
