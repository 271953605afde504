package index

import (
	"encoding/binary"
	"math"
	"sort"
)

// Grams are stored by block, not by file: a large file contains nearly every gram somewhere,
// so it would be a candidate for every search. A text is cut at line ends into blocks of
// about blockTarget bytes; a text smaller than splitFrom is one block. A block with a long
// line is larger, because lines are never cut. Blocks are numbered in the order of their
// documents, so the blocks of a folder are consecutive, too.
//
// Figures for the Linux tree, before grams were case-sensitive: blocks of 16, 32 and 64
// KiB took 7.2, 6.2 and 5.7 % of the text, whole files 5.3 %. For a word that does not
// occur but has common grams, there were 45, 95 and 160 candidates, and 215 with whole
// files.
const (
	blockTarget = 16 << 10
	splitFrom   = blockTarget + blockTarget/2
	// maxBlocks is roughly the most blocks of a text; larger texts have larger blocks.
	maxBlocks = 4096
)

// blockLength returns the size of a text's blocks. All of them have about the same size,
// since a short last block would cost as much as any other.
func blockLength(size int64) int64 {
	if size < splitFrom {
		return math.MaxInt64
	}
	n := min((size+blockTarget/2)/blockTarget, maxBlocks)
	return (size + n - 1) / n
}

// blockTable maps documents to blocks. Only documents with several blocks have an entry:
// the document's number, and how many additional blocks (all but the first of each
// document) the documents before it have. The table also has the offset in the file at
// which each additional block starts. First blocks start at 0.
type blockTable struct {
	n       int // number of blocks
	docs    int
	entries []byte // eight bytes each
	starts  []byte // eight bytes each
}

// openBlocks parses a section. The number of starts is not stored: it is the number of
// additional blocks.
func openBlocks(data []byte, blocks, docs int) (blockTable, error) {
	extra := blocks - docs
	if extra < 0 || blocks > maxDocs || len(data)%8 != 0 || extra > len(data)/8 {
		return blockTable{}, damaged("block table")
	}
	at := len(data) - 8*extra
	return blockTable{n: blocks, docs: docs, entries: data[:at], starts: data[at:]}, nil
}

// check verifies that entries are in order, and that the starts of each document are
// ascending and within its file.
func (t *blockTable) check(d *docTable) error {
	if d.n != t.docs || (t.split() == 0) != (len(t.starts) == 0) {
		return damaged("block table")
	}
	last := -1
	for i := range t.split() {
		doc, before := t.entry(i)
		from, to := t.extra(i)
		if doc <= last || doc >= d.n || i == 0 && before != 0 || from >= to || to > len(t.starts)/8 {
			return damaged("block table")
		}
		last = doc
		start, size := int64(0), d.stamp(doc).Size
		for ; from < to; from++ {
			next := int64(binary.LittleEndian.Uint64(t.starts[8*from:]))
			if next <= start || next >= size {
				return damaged("block table")
			}
			start = next
		}
	}
	return nil
}

// split returns the number of documents with several blocks.
func (t *blockTable) split() int { return len(t.entries) / 8 }

func (t *blockTable) entry(i int) (doc, before int) {
	e := t.entries[8*i:]
	return int(binary.LittleEndian.Uint32(e)), int(binary.LittleEndian.Uint32(e[4:]))
}

// extra returns the range in starts of the i-th entry's document.
func (t *blockTable) extra(i int) (from, to int) {
	_, from = t.entry(i)
	to = t.n - t.docs
	if i+1 < t.split() {
		_, to = t.entry(i + 1)
	}
	return from, to
}

// find returns the index of the first entry whose document is not before doc.
func (t *blockTable) find(doc int) int {
	return sort.Search(t.split(), func(i int) bool { d, _ := t.entry(i); return d >= doc })
}

// first returns the number of a document's first block. If doc is the number of documents, it
// returns the number of blocks.
func (t *blockTable) first(doc int) int {
	if i := t.find(doc); i < t.split() {
		_, before := t.entry(i)
		return doc + before
	}
	return doc + t.n - t.docs
}

// startsOf returns the starts of a document's additional blocks. It is empty if the
// document has only one block.
func (t *blockTable) startsOf(doc int) []byte {
	i := t.find(doc)
	if i == t.split() {
		return nil
	}
	if d, _ := t.entry(i); d != doc {
		return nil
	}
	from, to := t.extra(i)
	return t.starts[8*from : 8*to]
}

// documents maps blocks in ascending order to their documents, without repetitions. It
// appends to dst, which may be blocks[:0].
func (t *blockTable) documents(dst, blocks []uint32) []uint32 {
	// doc is the i-th document with several blocks, which are numbered first to last.
	// before counts the additional blocks of all documents before it.
	i, doc, before, first, last := -1, 0, 0, 0, -1
	base := len(dst)
	for _, b := range blocks {
		for int(b) > last {
			if i++; i < t.split() {
				doc, before = t.entry(i)
				_, to := t.extra(i)
				first, last = doc+before, doc+to
			} else {
				before, first, last = t.n-t.docs, math.MaxInt, math.MaxInt
			}
		}
		d := uint32(int(b) - before)
		if int(b) >= first {
			d = uint32(doc)
		}
		if n := len(dst); n == base || dst[n-1] != d {
			dst = append(dst, d)
		}
	}
	return dst
}

const maxPart = 1 << 20

// Part is a range of bytes in a file.
type Part struct{ Off, Len int64 }

// parts returns the parts of a document that consist of the given blocks. Consecutive
// blocks are joined up to maxPart bytes, which means fewer reads and fits the buffer of a
// search. The result is nil if the document has only one block, or if all or none of its
// blocks are given.
func (t *blockTable) parts(doc int, size int64, blocks []uint32) []Part {
	starts := t.startsOf(doc)
	count := len(starts)/8 + 1
	if count == 1 {
		return nil
	}
	first := t.first(doc)
	lo := sort.Search(len(blocks), func(i int) bool { return int(blocks[i]) >= first })
	hi := lo + sort.Search(len(blocks)-lo, func(i int) bool { return int(blocks[lo+i]) >= first+count })
	if hi-lo == count || hi == lo {
		return nil
	}
	edge := func(i int) int64 {
		switch i {
		case 0:
			return 0
		case count:
			return size
		}
		return int64(binary.LittleEndian.Uint64(starts[8*(i-1):]))
	}
	out := make([]Part, 0, hi-lo)
	for _, b := range blocks[lo:hi] {
		at, end := edge(int(b)-first), edge(int(b)-first+1)
		if n := len(out); n > 0 && out[n-1].Off+out[n-1].Len == at && end-out[n-1].Off <= maxPart {
			out[n-1].Len = end - out[n-1].Off
			continue
		}
		out = append(out, Part{at, end - at})
	}
	return out
}

// blockWriter writes the table.
type blockWriter struct {
	n       int // blocks so far
	extra   int
	entries []byte
	starts  []byte
}

// add adds the next document. starts has the form returned by startsOf.
func (w *blockWriter) add(doc int, starts []byte) {
	if len(starts) > 0 {
		w.entries = binary.LittleEndian.AppendUint32(w.entries, uint32(doc))
		w.entries = binary.LittleEndian.AppendUint32(w.entries, uint32(w.extra))
		w.starts = append(w.starts, starts...)
		w.extra += len(starts) / 8
	}
	w.n += 1 + len(starts)/8
}
