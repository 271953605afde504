package trigram

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"quarry/internal/stress"
)

// sets returns sets of every shape: tiny, sparse, clustered, dense, complete.
func sets(r *rand.Rand) (docs int, ids []uint32) {
	docs = 1 + r.IntN([]int{10, 300, 5000, 100000, 10, 300, 5000, 100000, 500000}[r.IntN(9)])
	density := []float64{0.0005, 0.01, 0.2, 0.7, 0.99, 1}[r.IntN(6)]
	in := r.Float64() < density
	for id := range docs {
		if r.IntN(1+r.IntN(50)) == 0 { // runs, as in folders
			in = r.Float64() < density
		}
		if in {
			ids = append(ids, uint32(id))
		}
	}
	return docs, ids
}

func TestListRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	forms := map[string]int{}
	for range stress.Size(150, 600) {
		docs, ids := sets(r)
		if len(ids) == 0 {
			continue
		}
		data := AppendList([]byte("before"), ids, docs)[6:]
		switch form := data[0]; {
		case form <= maxParam:
			forms["one block"]++
		case form < formBlocks:
			forms["one block with runs"]++
		case form == formBlocks:
			forms["blocks"]++
		case form == formWide:
			forms["wide blocks"]++
		case form == formBitmap:
			forms["bitmap"]++
		}
		for _, tail := range []string{"", "what follows in the file"} {
			l := OpenList(append(slices.Clone(data), tail...), len(ids), docs)
			got, err := l.Append(nil, 0, uint32(docs))
			if err != nil || !slices.Equal(got, ids) {
				t.Fatalf("%d of %d: got %d, %v", len(ids), docs, len(got), err)
			}
			lo := uint32(r.IntN(docs))
			hi := lo + uint32(r.IntN(docs))
			if got, err = l.Append([]uint32{7}, lo, hi); err != nil {
				t.Fatal(err)
			}
			want := []uint32{7}
			for _, id := range ids {
				if lo <= id && id < hi {
					want = append(want, id)
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("[%d,%d) of %d ids: got %d, want %d", lo, hi, len(ids), len(got), len(want))
			}
		}
	}
	if len(forms) != 5 {
		t.Errorf("forms met: %v, want all five", forms)
	}
}

func TestListFilterAndUnion(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range stress.N(300) {
		docs, a := sets(r)
		_, b := sets(r)
		in := map[uint32]bool{}
		for _, id := range a {
			in[id] = true
		}
		var both, all []uint32
		for _, id := range b {
			if in[id] {
				both = append(both, id)
			}
			in[id] = true
		}
		for id := range in {
			all = append(all, id)
		}
		slices.Sort(all)
		if got := Union(nil, a, b); !slices.Equal(got, all) {
			t.Fatalf("Union of %d and %d: %d, want %d", len(a), len(b), len(got), len(all))
		}
		got, err := OpenList(AppendList(nil, a, docs), len(a), docs).Filter(slices.Clone(b))
		if err != nil || !slices.Equal(got, both) {
			t.Fatalf("Filter %d by %d: %d, %v, want %d", len(b), len(a), len(got), err, len(both))
		}
	}
}

// Lists are read from a file that may be corrupt. Reading must not panic, and must return
// increasing numbers in the list's range or an error.
func FuzzList(f *testing.F) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 20 {
		docs, ids := sets(r)
		if len(ids) > 0 {
			f.Add(AppendList(nil, ids, docs), len(ids), docs)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, n, docs int) {
		if n < 0 || docs < 0 || docs > 1<<20 {
			return
		}
		l := OpenList(data, n, docs)
		ids, err := l.Append(nil, 0, uint32(docs))
		if err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatal(err)
		}
		for i, id := range ids {
			if int(id) >= docs || i > 0 && id <= ids[i-1] {
				t.Fatalf("number %d of %d: %d", i, docs, id)
			}
		}
		some := []uint32{0, 5, 6, 1000, 70000}
		kept, _ := l.Filter(some)
		if len(kept) > 5 {
			t.Fatal("Filter added numbers")
		}
	})
}

func BenchmarkListAppend(b *testing.B) {
	for _, every := range []int{2, 20, 500} {
		r := rand.New(rand.NewPCG(7, 8))
		var ids []uint32
		const docs = 80000
		for id := range uint32(docs) {
			if r.IntN(every) == 0 {
				ids = append(ids, id)
			}
		}
		l := OpenList(AppendList(nil, ids, docs), len(ids), docs)
		b.Run(fmt.Sprintf("1of%d", every), func(b *testing.B) {
			var got []uint32
			for b.Loop() {
				got, _ = l.Append(got[:0], 0, docs)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(ids)), "ns/id")
			b.ReportMetric(float64(8*len(l.data))/float64(len(ids)), "bits/id")
		})
	}
}
