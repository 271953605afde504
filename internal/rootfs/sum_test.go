package rootfs

import (
	"math/rand/v2"
	"os"
	"quarry/fault"
	"quarry/internal/stress"
	"testing"
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
			if got := s.Edited(edits); got != VersionOf(want) {
				t.Fatalf("%d bytes, %d edits: another version", size, len(edits))
			}
		}
		if s.Version() != VersionOf(data) {
			t.Errorf("%d bytes: another version", size)
		}
	}
}

// A caller that has the old content lets it be compared; a file that differs is
// a conflict, and stored edits that lead elsewhere are refused.
func TestSpliceWithKnownContent(t *testing.T) {
	r := openRoot(t, t.TempDir(), nil)
	old := []byte("f")
	edits := []Edit{{Off: 1, Data: []byte("g")}}
	next := SumOf(old).Edited(edits)
	for _, c := range []struct {
		name, have string
		opts       ReplaceOptions
		kind       fault.Code
		then       string
	}{
		{"another content", "x", ReplaceOptions{Want: next, Old: old}, fault.Conflict, "x"},
		{"a longer content", "fff", ReplaceOptions{Want: next, Old: old}, fault.Conflict, "fff"},
		{"edits that lead elsewhere", "f", ReplaceOptions{Want: VersionOf(old)}, fault.InvalidArgument, "f"},
		{"as expected", "f", ReplaceOptions{Want: next, Old: old}, "", "fg"},
	} {
		file := r.Dir() + "/f"
		must(t, os.WriteFile(file, []byte(c.have), 0o644))
		got, err := r.Splice(Path{"f"}, edits, VersionOf(old), &c.opts)
		if (err != nil) != (c.kind != "") || err != nil && KindOf(err) != c.kind || err == nil && got.New != next {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
		if b, err := os.ReadFile(file); string(b) != c.then || err != nil {
			t.Errorf("%s: the file holds %q, %v", c.name, b, err)
		}
	}
}
