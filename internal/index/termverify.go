package index

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"quarry/fault"
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

// countFields compares the values of a document, and keeps its keys.
func (c *checker) countFields(id int, path string, flags Flags) {
	cur := fieldCursor{t: &c.view.seg.fields, want: AllValues}
	had := cur.values(id)
	c.found.reset()
	if flags&withoutFields == 0 {
		c.reader.fields(path, &c.found)
	}
	if !bytes.Equal(had, c.found.values) {
		c.fault(path, "it has other fields than the index says")
	}
	c.found.each(func(k terms.Key, n int) { c.fieldTerms = append(c.fieldTerms, termCount{k, uint32(id), uint8(n)}) })
}

// termLists looks for documents that are missing in the list of a term they have,
// or are there with another count. It panics on damage.
func (c *checker) termLists(table *termTable, list []termCount, what string) {
	slices.SortFunc(list, func(a, b termCount) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.id, b.id)) })
	var ids []uint32
	var counts []uint8
	wrong := map[uint32]int{}
	for i := 0; i < len(list); {
		k := list[i].key
		ids, counts = ids[:0], counts[:0]
		if e := table.find(k); e.n > 0 {
			ids, counts = table.read(&e, ids, counts)
		}
		for ; i < len(list) && list[i].key == k; i++ {
			t := &list[i]
			if at, ok := slices.BinarySearch(ids, t.id); !ok || counts[at] != t.count {
				wrong[t.id]++
			}
		}
	}
	for id, n := range wrong {
		c.fault(c.names[id], fmt.Sprintf("%s of the file are counted otherwise in the index", fault.Count(n, what)))
	}
}
