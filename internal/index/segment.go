package index

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/bits"
	"runtime/debug"
	"sync/atomic"

	"quarry/internal/rootfs"
	"quarry/internal/trigram"
)

// segment is an open segment. It is immutable; its memory is released with the
// last reference.
type segment struct {
	name string
	size int64
	sum  uint32
	text uint64

	docs     docTable
	blocks   blockTable
	grams    gramTable
	postings []byte

	// Documents that have a flag, in order, for each that a search may ask for.
	always, binary, large []uint32

	mapping *rootfs.Mapping
	refs    atomic.Int32
}

// openSegment maps a segment and checks every byte of it: 80 MB take 10 ms.
func openSegment(state *rootfs.Root, name string) (*segment, error) {
	p, err := state.Known(name)
	if err != nil {
		return nil, err
	}
	m, err := state.Map(p)
	if err != nil {
		return nil, err
	}
	s := &segment{name: name, size: int64(len(m.Bytes())), mapping: m}
	s.refs.Store(1)
	err = guard(func() error { return s.parse(m.Bytes()) })
	if err != nil {
		m.Close()
		return nil, fmt.Errorf("segment %s: %w", name, err)
	}
	return s, nil
}

// guard turns a fault in mapped memory, or a panic over bytes that make no
// sense, into an error: the disk may fail under a mapping at any time.
func guard(f func() error) (err error) {
	old := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(old)
		if r := recover(); r != nil {
			err = damaged("%v", r)
		}
	}()
	return f()
}

func (s *segment) parse(data []byte) error {
	f, sum, err := parseFooter(data)
	if err != nil {
		return err
	}
	var part [sections][]byte
	for i, sec := range f.table {
		part[i] = data[sec.off : sec.off+sec.size]
		if crc32.Checksum(part[i], castagnoli) != sec.sum {
			return damaged("checksum of section %d", i)
		}
	}
	s.sum, s.text = sum, f.text
	s.postings = part[secPostings]
	s.docs = docTable{int(f.docs), part[secPaths], part[secRestarts], part[secStamps], part[secFlags]}
	s.grams = gramTable{n: int(f.grams), keys: part[secGrams], entries: part[secEntries]}
	if err := s.docs.check(); err != nil {
		return err
	}
	if err := s.grams.check(); err != nil {
		return err
	}
	if s.blocks, err = openBlocks(part[secBlocks], int(f.blocks), int(f.docs)); err != nil {
		return err
	}
	if err := s.blocks.check(&s.docs); err != nil {
		return err
	}
	for id, flags := range s.docs.flags {
		if Flags(flags)&AlwaysScan != 0 {
			s.always = append(s.always, uint32(id))
		}
		if Flags(flags)&Binary != 0 {
			s.binary = append(s.binary, uint32(id))
		}
		if Flags(flags)&Large != 0 {
			s.large = append(s.large, uint32(id))
		}
	}
	return nil
}

func (s *segment) retain() { s.refs.Add(1) }

func (s *segment) release() {
	if s.refs.Add(-1) == 0 {
		s.mapping.Close()
	}
}

// list returns the blocks that have a gram. The number of a single one is in the
// entry itself, which is then encoded.
func (s *segment) list(g trigram.Gram) trigram.List {
	i := s.grams.find(g)
	if i < 0 {
		return trigram.List{}
	}
	return s.listAt(i)
}

func (s *segment) listAt(i int) trigram.List {
	n, where := splitEntry(binary.LittleEndian.Uint64(s.grams.entries[8*i:]))
	if n == 1 {
		return trigram.OpenList(trigram.AppendList(nil, []uint32{uint32(where)}, s.blocks.n), 1, s.blocks.n)
	}
	return trigram.OpenList(s.postings[where:], n, s.blocks.n)
}

// count returns how many blocks have a gram.
func (s *segment) count(g trigram.Gram) int {
	i := s.grams.find(g)
	if i < 0 {
		return 0
	}
	n, _ := splitEntry(binary.LittleEndian.Uint64(s.grams.entries[8*i:]))
	return n
}

// An entry has the number of blocks in its low 24 bits and above them where the
// list is, or for one block its number.
const countBits = 24

func makeEntry(n int, where uint64) uint64   { return where<<countBits | uint64(n) }
func splitEntry(e uint64) (n int, at uint64) { return int(e & (1<<countBits - 1)), e >> countBits }

// gramTable finds a gram's entry: with many grams, by a bitmap of all there
// could be and the number of ones before every 512th; with few, by their sorted
// keys.
type gramTable struct {
	n       int
	keys    []byte
	entries []byte
}

const (
	bitmapSize = trigram.Grams / 8
	rankEvery  = 512
	ranksSize  = trigram.Grams / rankEvery * 4
	// With fewer grams than this the sorted keys are smaller.
	bitmapFrom = (bitmapSize + ranksSize) / 4
)

func (t *gramTable) check() error {
	want := 4 * t.n
	if t.n >= bitmapFrom {
		want = bitmapSize + ranksSize
	}
	if len(t.keys) != want || len(t.entries) != 8*t.n {
		return damaged("gram table")
	}
	return nil
}

func (t *gramTable) find(g trigram.Gram) int {
	if t.n < bitmapFrom {
		lo, hi := 0, t.n
		for lo < hi {
			mid := (lo + hi) / 2
			if binary.LittleEndian.Uint32(t.keys[4*mid:]) < uint32(g) {
				lo = mid + 1
			} else {
				hi = mid
			}
		}
		if lo < t.n && binary.LittleEndian.Uint32(t.keys[4*lo:]) == uint32(g) {
			return lo
		}
		return -1
	}
	if t.keys[g/8]>>(g%8)&1 == 0 {
		return -1
	}
	block := int(g / rankEvery)
	rank := int(binary.LittleEndian.Uint32(t.keys[bitmapSize+4*block:]))
	at := block * rankEvery / 8
	for ; at+8 <= int(g/64)*8; at += 8 {
		rank += bits.OnesCount64(binary.LittleEndian.Uint64(t.keys[at:]))
	}
	w := binary.LittleEndian.Uint64(t.keys[at:])
	return rank + bits.OnesCount64(w&(1<<(g%64)-1))
}

// all lists the grams in order.
func (t *gramTable) all(dst []trigram.Gram) []trigram.Gram {
	if t.n < bitmapFrom {
		for i := range t.n {
			dst = append(dst, trigram.Gram(binary.LittleEndian.Uint32(t.keys[4*i:])))
		}
		return dst
	}
	for at := 0; at < bitmapSize; at += 8 {
		for w := binary.LittleEndian.Uint64(t.keys[at:]); w != 0; w &= w - 1 {
			dst = append(dst, trigram.Gram(8*at+bits.TrailingZeros64(w)))
		}
	}
	return dst
}
