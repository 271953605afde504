package index

import (
	"encoding/binary"
	"sort"

	"quarry/internal/trigram"
)

// gramTable finds the list of a gram. Entries have a few bytes each and are stored in groups
// of groupLen; a head says where a group begins. For the Linux tree, this takes 4.4 bytes
// per gram, where entries of fixed size and a bitmap took 9.4. In a small tree most grams
// are rare, so the table was a quarter of the index. Finding an entry takes 0.3 µs.
//
// An entry consists of three varints: the distance from the previous gram, minus one (not for
// the first entry of a group); the number of blocks; and the length of the gram's list. If
// there is only one block, its number replaces the length. The lists are stored in the
// postings in the same order, without gaps.
type gramTable struct {
	n       int
	heads   []byte
	entries []byte
}

const (
	groupLen = 64
	headSize = 16 // first gram, offset of the entries, offset of the lists
)

// gramEntry is the entry of a gram: the number of blocks, and the offset of its list in the
// postings. A gram with a single block has no list: where is the block's number.
type gramEntry struct {
	gram  trigram.Gram
	n     int
	where uint64
	size  int
}

// gramCursor reads entries in sequence.
type gramCursor struct {
	t     *gramTable
	i     int // number of entries read
	rest  []byte
	lists uint64 // offset of the next list
	gramEntry
}

func (t *gramTable) groups() int { return len(t.heads) / headSize }

func (t *gramTable) head(i int) (first trigram.Gram, entries uint32, lists uint64) {
	h := t.heads[i*headSize:]
	return trigram.Gram(binary.LittleEndian.Uint32(h)), binary.LittleEndian.Uint32(h[4:]), binary.LittleEndian.Uint64(h[8:])
}

// from returns a cursor at the first entry of the last group that begins with g or before
// it.
func (t *gramTable) from(g trigram.Gram) gramCursor {
	group := sort.Search(t.groups(), func(i int) bool { first, _, _ := t.head(i); return first > g })
	return gramCursor{t: t, i: max(0, group-1) * groupLen}
}

// next reads the next entry. It returns false at the end, and also at invalid entries, which
// check rejects earlier.
func (c *gramCursor) next() bool {
	if c.i >= c.t.n {
		return false
	}
	first := c.i%groupLen == 0
	if first || c.rest == nil {
		g, entries, lists := c.t.head(c.i / groupLen)
		if int(entries) > len(c.t.entries) {
			return false
		}
		c.gram, c.rest, c.lists = g, c.t.entries[entries:], lists
	}
	if !first {
		gap, ok := c.varint()
		if !ok || gap >= trigram.Grams {
			return false
		}
		c.gram += trigram.Gram(gap) + 1
	}
	n, ok := c.varint()
	value, ok2 := c.varint()
	if !ok || !ok2 || n == 0 || n > maxDocs {
		return false
	}
	c.i++
	c.n, c.where, c.size = int(n), value, 0
	if n > 1 {
		c.where, c.size = c.lists, int(value)
		c.lists += value
	}
	return true
}

func (c *gramCursor) varint() (uint64, bool) {
	v, n := binary.Uvarint(c.rest)
	if n <= 0 {
		return 0, false
	}
	c.rest = c.rest[n:]
	return v, true
}

// find returns the entry of a gram. Its n is 0 if the gram doesn't occur.
func (t *gramTable) find(g trigram.Gram) gramEntry {
	c := t.from(g)
	for range groupLen {
		if !c.next() || c.gram > g {
			break
		}
		if c.gram == g {
			return c.gramEntry
		}
	}
	return gramEntry{}
}

// check verifies that all entries exist and are in order, that their lists are inside the
// postings, and that single blocks are inside the segment.
func (t *gramTable) check(blocks, postings int) error {
	if len(t.heads) != (t.n+groupLen-1)/groupLen*headSize {
		return damaged("gram table")
	}
	c := gramCursor{t: t}
	last, end := int64(-1), uint64(0)
	for range t.n {
		if !c.next() || int64(c.gram) <= last || c.gram >= trigram.Grams {
			return damaged("gram table")
		}
		switch {
		case c.n == 1 && c.where < uint64(blocks):
		case c.n > 1 && c.where == end && c.size >= 0 && uint64(c.size) <= uint64(postings)-end:
			end += uint64(c.size)
		default:
			return damaged("gram table")
		}
		last = int64(c.gram)
	}
	return nil
}

// gramWriter writes the table.
type gramWriter struct {
	n       int
	last    trigram.Gram
	lists   uint64
	heads   []byte
	entries []byte
}

// add adds the next gram. value is the length of its list or, if n is 1, the number of its
// block.
func (w *gramWriter) add(g trigram.Gram, n int, value uint64) {
	if w.n%groupLen == 0 {
		w.heads = binary.LittleEndian.AppendUint32(w.heads, uint32(g))
		w.heads = binary.LittleEndian.AppendUint32(w.heads, uint32(len(w.entries)))
		w.heads = binary.LittleEndian.AppendUint64(w.heads, w.lists)
	} else {
		w.entries = binary.AppendUvarint(w.entries, uint64(g-w.last-1))
	}
	w.entries = binary.AppendUvarint(w.entries, uint64(n))
	w.entries = binary.AppendUvarint(w.entries, value)
	if n > 1 {
		w.lists += value
	}
	w.last = g
	w.n++
}
