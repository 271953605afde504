package index

import (
	"encoding/binary"
	"math/bits"
	"sort"

	"quarry/internal/terms"
	"quarry/internal/trigram"
)

// For ranked searches, the table of terms records which documents have a term and how often.
// Unlike grams, terms are stored by document and not by block, since scores are computed for
// documents. They are sorted by key (terms.Key).
//
// In Linux 6.1 there are 22.5 million pairs of a document and a count: 2.9 % of the text.

// unknownParts is the number of parts of a document whose terms are not in the segment, so
// the file has to be read.
const unknownParts = 1<<32 - 1

// termTable finds the list of a term. Its layout is that of gramTable, but its entries remain
// in the file, after the lists. They are read later, so they have checksums.
type termTable struct {
	n       int
	docs    int
	heads   []byte
	file    []byte // lists, then entries, then padding
	sums    []byte // checksums of file
	entries int    // offset of the entries in file
}

const termHead = 24 // first key, offset of its entry, offset of its list

// termEntry is the table's entry for a term. A term that occurs in one document has no list.
type termEntry struct {
	key   terms.Key
	n     int
	where uint64 // offset of the list, or the packed document and count
	size  int
}

// countBits is the width of the count in a packed pair of document and count.
const countBits = 7

func (t *termTable) groups() int { return len(t.heads) / termHead }

func (t *termTable) head(i int) (first terms.Key, entries, lists uint64) {
	h := t.heads[i*termHead:]
	return terms.Key(binary.LittleEndian.Uint64(h)), binary.LittleEndian.Uint64(h[8:]), binary.LittleEndian.Uint64(h[16:])
}

// check verifies everything that can be checked without reading the entries.
func (t *termTable) check() error {
	if len(t.heads) != (t.n+groupLen-1)/groupLen*termHead {
		return damaged("term table")
	}
	var lastKey terms.Key
	var lastEntry, lastList uint64
	limit := uint64(max(len(t.file)-postingsPad, 0))
	for i := range t.groups() {
		key, entry, list := t.head(i)
		if i > 0 && (key <= lastKey || entry < lastEntry || list < lastList) || entry > limit || list > entry {
			return damaged("term table")
		}
		lastKey, lastEntry, lastList = key, entry, list
	}
	t.entries = len(t.file)
	if t.groups() > 0 {
		_, first, _ := t.head(0)
		t.entries = int(first)
	}
	return nil
}

// termCursor reads entries in sequence. It panics on invalid bytes, so it must be used under
// guard.
type termCursor struct {
	t     *termTable
	i     int // number of entries read
	rest  []byte
	lists uint64
	termEntry
}

// from returns a cursor at the first entry of the last group that begins with k or before it.
func (t *termTable) from(k terms.Key) termCursor {
	group := sort.Search(t.groups(), func(i int) bool { first, _, _ := t.head(i); return first > k })
	return termCursor{t: t, i: max(0, group-1) * groupLen}
}

// next reads the next entry. It returns false at the end.
func (c *termCursor) next() bool {
	if c.i >= c.t.n {
		return false
	}
	if c.i%groupLen == 0 {
		c.group()
	} else {
		c.key += terms.Key(c.uvarint()) + 1
	}
	n, value := c.uvarint(), c.uvarint()
	if n == 0 || n > uint64(c.t.docs) {
		panic("entry of a term")
	}
	c.i++
	c.n, c.where, c.size = int(n), value, 0
	if n > 1 {
		c.where, c.size = c.lists, int(value)
		c.lists += value
	}
	return true
}

// group starts reading the next group of entries and verifies its checksums.
func (c *termCursor) group() {
	i := c.i / groupLen
	key, from, lists := c.t.head(i)
	to := uint64(len(c.t.file) - postingsPad)
	if i+1 < c.t.groups() {
		_, to, _ = c.t.head(i + 1)
	}
	if !intact(c.t.file, c.t.sums, int(from), int(to)) {
		panic("checksum of a term")
	}
	c.key, c.lists, c.rest = key, lists, c.t.file[from:to]
}

func (c *termCursor) uvarint() uint64 {
	v, n := binary.Uvarint(c.rest)
	if n <= 0 {
		panic("entry of a term")
	}
	c.rest = c.rest[n:]
	return v
}

// find returns the entry of a term. Its n is 0 if the term doesn't occur.
func (t *termTable) find(k terms.Key) termEntry {
	c := t.from(k)
	for range groupLen {
		if !c.next() || c.key > k {
			break
		}
		if c.key == k {
			return c.termEntry
		}
	}
	return termEntry{}
}

// read appends the documents of an entry and the term's count in each. It panics if their
// bytes are damaged.
func (t *termTable) read(e *termEntry, ids []uint32, counts []uint8) ([]uint32, []uint8) {
	if e.n == 1 {
		id := e.where >> countBits
		if id >= uint64(t.docs) {
			panic("document of a term")
		}
		return append(ids, uint32(id)), append(counts, uint8(e.where&(1<<countBits-1)))
	}
	from, to := int(e.where), int(e.where)+e.size
	if e.size < 0 || to > t.entries || !intact(t.file, t.sums, from, to) {
		panic("checksum of a list of a term")
	}
	list := t.file[from:to]
	size, k := binary.Uvarint(list)
	if k <= 0 || size > uint64(len(list)-k) {
		panic("counts of a term")
	}
	counts = appendCounts(counts, list[k:k+int(size)], e.n)
	// The list may be read past its end, since at least padding follows.
	ids, err := trigram.OpenList(t.file[from+k+int(size):], e.n, t.docs).Append(ids, 0, uint32(t.docs))
	if err != nil {
		panic(err)
	}
	return ids, counts
}

// termWriter writes the table.
type termWriter struct {
	n       int
	last    terms.Key
	lists   uint64
	heads   []byte // until place is called, entry offsets are relative to the first entry
	entries []byte
}

func (w *termWriter) add(e *partTerm) {
	if w.n%groupLen == 0 {
		w.heads = binary.LittleEndian.AppendUint64(w.heads, uint64(e.key))
		w.heads = binary.LittleEndian.AppendUint64(w.heads, uint64(len(w.entries)))
		w.heads = binary.LittleEndian.AppendUint64(w.heads, w.lists)
	} else {
		w.entries = binary.AppendUvarint(w.entries, uint64(e.key-w.last-1))
	}
	w.entries = binary.AppendUvarint(w.entries, uint64(e.n))
	w.entries = binary.AppendUvarint(w.entries, e.value)
	if e.n > 1 {
		w.lists += e.value
	}
	w.last = e.key
	w.n++
}

// place makes the entry offsets relative to file, where the entries follow the lists.
func (w *termWriter) place() {
	for h := w.heads; len(h) > 0; h = h[termHead:] {
		binary.LittleEndian.PutUint64(h[8:], binary.LittleEndian.Uint64(h[8:])+w.lists)
	}
}

// termPart is a sequence of encoded lists of terms.
type termPart struct {
	entries []partTerm
	data    []byte
	counts  []byte
}

// partTerm is an entry as termWriter takes it.
type partTerm struct {
	key   terms.Key
	n     int
	value uint64
}

func (p *termPart) reset() { p.entries, p.data = p.entries[:0], p.data[:0] }

// add encodes the list of the next term: the size of the packed counts, the counts, and the
// documents.
func (p *termPart) add(k terms.Key, ids []uint32, counts []uint8, docs int) {
	if len(ids) == 1 {
		p.entries = append(p.entries, partTerm{k, 1, uint64(ids[0])<<countBits | uint64(counts[0])})
		return
	}
	at := len(p.data)
	p.counts = packCounts(p.counts[:0], counts)
	p.data = binary.AppendUvarint(p.data, uint64(len(p.counts)))
	p.data = append(p.data, p.counts...)
	p.data = trigram.AppendList(p.data, ids, docs)
	p.entries = append(p.entries, partTerm{k, len(ids), uint64(len(p.data) - at)})
}

// packCounts packs counts, which are at least 1, in Elias's gamma code from the low end of
// each byte: a count of n bits takes n-1 zeros, a one, and its lower n-1 bits. Half of all
// counts are 1 and take one bit.
func packCounts(dst []byte, counts []uint8) []byte {
	acc, have := uint64(0), 0
	for _, n := range counts {
		width := bits.Len8(n) - 1
		acc |= 1 << (have + width)
		acc |= (uint64(n) &^ (1 << width)) << (have + width + 1)
		have += 2*width + 1
		for have >= 8 {
			dst = append(dst, byte(acc))
			acc >>= 8
			have -= 8
		}
	}
	if have > 0 {
		dst = append(dst, byte(acc))
	}
	return dst
}

// appendCounts unpacks n counts. It panics if there are fewer.
func appendCounts(dst []uint8, data []byte, n int) []uint8 {
	acc, have := uint64(0), 0
	for range n {
		for have <= 48 && len(data) > 0 {
			acc |= uint64(data[0]) << have
			data = data[1:]
			have += 8
		}
		width := bits.TrailingZeros64(acc)
		if 2*width+1 > have || width > 7 {
			panic("counts of a term")
		}
		dst = append(dst, uint8(1<<width|acc>>(width+1)&(1<<width-1)))
		acc >>= 2*width + 1
		have -= 2*width + 1
	}
	return dst
}
