package index

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
)

// The tables of a segment are checked and copied into memory when it is opened, so later damage to the file
// can't affect them. The checks read the file instead of the mapping: mapped pages that were touched count as
// memory of the process, and a build opens a segment it has just written. Postings, nine tenths of the file,
// stay in it. Every stretch of sumBlock bytes has a sum, checked each time a list in it is read, so damaged
// bytes are never part of an answer. Stamps stay in the file too and need no check: a wrong stamp differs
// from the file's own, and the file is then read.

// blockSums makes the sums of a stream.
type blockSums struct {
	out  []byte
	sum  uint32
	fill int // bytes of the block in hand
}

func (b *blockSums) add(data []byte) {
	for len(data) > 0 {
		n := min(len(data), sumBlock-b.fill)
		b.sum = crc32.Update(b.sum, castagnoli(), data[:n])
		data = data[n:]
		if b.fill += n; b.fill == sumBlock {
			b.end()
		}
	}
}

func (b *blockSums) end() {
	b.out = binary.LittleEndian.AppendUint32(b.out, b.sum)
	b.sum, b.fill = 0, 0
}

func (b *blockSums) finish() []byte {
	if b.fill > 0 {
		b.end()
	}
	return b.out
}

// intact checks the blocks of the postings that contain bytes [from, to).
func (s *segment) intact(from, to int) bool { return intact(s.postings, s.sums, from, to) }

// intact checks the blocks of data that contain bytes [from, to).
func intact(data, sums []byte, from, to int) bool {
	if from < 0 || to > len(data) || from > to {
		return false
	}
	for i := from / sumBlock; i*sumBlock < to; i++ {
		block := data[i*sumBlock : min((i+1)*sumBlock, len(data))]
		if crc32.Checksum(block, castagnoli()) != binary.LittleEndian.Uint32(sums[4*i:]) {
			return false
		}
	}
	return true
}

// readTable reads and checks a section that has one sum.
func (s *segment) readTable(id int, sec section) ([]byte, error) {
	table := make([]byte, sec.size)
	if n, err := s.mapping.ReadAt(table, int64(sec.off)); n < len(table) {
		return nil, damaged("section %d can't be read: %v", id, err)
	}
	if crc32.Checksum(table, castagnoli()) != sec.sum {
		return nil, damaged("checksum of section %d", id)
	}
	return table, nil
}

// readIntact checks all blocks of a section, which begins at off in the file.
func (s *segment) readIntact(off int64, size int, want []byte) error {
	buf := make([]byte, min(size, 64*sumBlock))
	var sums blockSums
	for left := size; left > 0; {
		b := buf[:min(left, len(buf))]
		n, err := s.mapping.ReadAt(b, off)
		if n < len(b) {
			return damaged("postings can't be read: %v", err)
		}
		sums.add(b)
		off, left = off+int64(n), left-n
	}
	if !bytes.Equal(sums.finish(), want) {
		return damaged("checksum of the postings")
	}
	return nil
}

// untouched is called after the postings were used. It checks that the file was
// not written to meanwhile, or that its content is still the same.
func (s *segment) untouched() error {
	if s.mapping.Touched() && (!s.intact(0, len(s.postings)) || !intact(s.terms.file, s.terms.sums, 0, len(s.terms.file)) ||
		!intact(s.defs.file, s.defs.sums, 0, len(s.defs.file)) || !intact(s.fields.file, s.fields.sums, 0, len(s.fields.file)) ||
		!intact(s.fieldTerms.file, s.fieldTerms.sums, 0, len(s.fieldTerms.file))) {
		return damaged("it was changed while in use")
	}
	return nil
}
