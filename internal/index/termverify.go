package index

import (
	"cmp"
	"fmt"
	"slices"

	"quarry/internal/terms"
)

// termCount is a term of a file that was read again.
type termCount struct {
	key   terms.Key
	id    uint32
	count uint8
}

// countTerms compares how many parts a document has, and keeps its terms.
func (c *checker) countTerms(id int, parts uint32) {
	if had := c.view.seg.docs.counted(id); had != parts {
		c.fault(c.names[uint32(id)], fmt.Sprintf("it has %d parts, the index says %d", parts, had))
		return
	}
	if parts == unknownParts {
		return
	}
	counts := map[terms.Key]int{}
	c.reader.terms.Each(func(k terms.Key, n int) { counts[k] = min(counts[k]+n, terms.MaxCount) })
	for k, n := range counts {
		c.terms = append(c.terms, termCount{k, uint32(id), uint8(n)})
	}
}

// termLists looks for documents that are missing in the list of a term they have,
// or are there with another count. It panics on damage.
func (c *checker) termLists() {
	slices.SortFunc(c.terms, func(a, b termCount) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.id, b.id)) })
	var ids []uint32
	var counts []uint8
	wrong := map[uint32]int{}
	for i := 0; i < len(c.terms); {
		k := c.terms[i].key
		ids, counts = ids[:0], counts[:0]
		if e := c.view.seg.terms.find(k); e.n > 0 {
			ids, counts = c.view.seg.terms.read(&e, ids, counts)
		}
		for ; i < len(c.terms) && c.terms[i].key == k; i++ {
			t := &c.terms[i]
			if at, ok := slices.BinarySearch(ids, t.id); !ok || counts[at] != t.count {
				wrong[t.id]++
			}
		}
	}
	for id, n := range wrong {
		c.fault(c.names[id], fmt.Sprintf("%s of the file are counted otherwise in the index", plural(n, "term")))
	}
}
