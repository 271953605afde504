package lookup

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"quarry/search"
)

// A range of keys that contains a key similar to the name is never skipped.
func TestBetween(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	word := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = "abcdxyz"[r.IntN(7)]
		}
		return string(b)
	}
	var keys []string
	for range 3000 {
		keys = append(keys, word(r.IntN(12)))
	}
	slices.Sort(keys)
	ranges, some, passed := 0, 0, 0
	for range 400 {
		typed := word(1 + r.IntN(12))
		if r.IntN(2) == 0 { // similar to another key
			typed = keys[r.IntN(len(keys))]
			if n := len(typed); n > 2 {
				typed = typed[:n/2] + typed[n/2+1:]
			}
		}
		n, err := Compile(&search.SymbolQuery{Name: typed, Fuzzy: true})
		if err != nil {
			t.Fatal(err)
		}
		for lo := 0; lo < len(keys); {
			hi := min(len(keys), lo+1+r.IntN(60))
			like := slices.ContainsFunc(keys[lo:hi], func(key string) bool {
				v, _ := n.typo.likeness([]byte(key))
				return v > 0 || strings.HasPrefix(key, typed)
			})
			var last []byte
			if hi < len(keys) {
				last = []byte(keys[hi])
			}
			may := false
			for _, of := range []Reach{Begins, Typo, Far} {
				may = may || n.Between(of)([]byte(keys[lo]), last)
			}
			ranges++
			if like {
				some++
			}
			if !may {
				passed++
			}
			if like && !may {
				t.Fatalf("%q is like a key from %q to %q", typed, keys[lo], last)
			}
			lo = hi
		}
	}
	t.Logf("%d ranges, %d with a key like the name, %d passed over", ranges, some, passed)
	if some == 0 || passed < (ranges-some)/2 {
		t.Errorf("of %d ranges without such a key only %d are passed over", ranges-some, passed)
	}
}
