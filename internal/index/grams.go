package index

import (
	"encoding/binary"
	"sort"

	"quarry/internal/trigram"
)

// gramTable finds a gram's list. Entries are a few bytes each, in groups of groupLen; a head
// tells where a group begins. On the Linux tree that is 4.4 bytes a gram, where entries of
// fixed length and a bitmap took 9.4: for a small tree, where most grams are rare, the table
// was a quarter of the index. Finding an entry takes 0.3 µs.
//
// An entry is three varints: the distance from the previous gram, less one (not for the first
// of a group); the number of blocks; and for a single block its number, otherwise the length
// of its list. Lists are in the postings in this order, without gaps.
type gramTable struct {
	n       int
	heads   []byte
	entries []byte
}

const (
	groupLen = 64
	headSize = 16 // first gram, where the entries begin, where the lists begin
)

// gramEntry is the entry of a gram: the number of its blocks, and the offset of their list in
// the postings. A single block has no list; where is its number.
type gramEntry struct {
	gram  trigram.Gram
	n     int
	where uint64
	size  int
}

// gramCursor reads entries one after the other.
type gramCursor struct {
	t     *gramTable
	i     int // entries read
	rest  []byte
	lists uint64 // where the next list is
	gramEntry
}

func (t *gramTable) groups() int { return len(t.heads) / headSize }

func (t *gramTable) head(i int) (first trigram.Gram, entries uint32, lists uint64) {
	h := t.heads[i*headSize:]
	return trigram.Gram(binary.LittleEndian.Uint32(h)), binary.LittleEndian.Uint32(h[4:]), binary.LittleEndian.Uint64(h[8:])
}

// from returns a cursor whose next entry is the first of the last group that
// begins with g or before it.
func (t *gramTable) from(g trigram.Gram) gramCursor {
	group := sort.Search(t.groups(), func(i int) bool { first, _, _ := t.head(i); return first > g })
	return gramCursor{t: t, i: max(0, group-1) * groupLen}
}

// next goes to the next entry; at the end it reports false. It also ends at invalid entries,
// which check has already found.
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

// find returns the entry of a gram; its n is 0 if there is none.
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

// check verifies the table: all entries are there and in order, their lists are
// inside of the postings, and single blocks are inside of the segment.
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

// gramWriter makes the table.
type gramWriter struct {
	n       int
	last    trigram.Gram
	lists   uint64
	heads   []byte
	entries []byte
}

// add adds the next gram. value is the length of its list, or the number of its single block.
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
