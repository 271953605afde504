package index

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
)

// The tables of a segment are checked and copied into memory when it is opened, so later damage
// to the file can't affect them. They are read from the file and not from the mapping, because
// mapped pages count as memory of the process once they are accessed, and a build opens a
// segment it has just written. Postings, nine tenths of the file, are not copied. Each block of
// sumBlock bytes has a checksum, which is checked whenever a list in it is read, so damaged
// bytes are never used in an answer. Stamps aren't copied either, and need no check: a wrong
// stamp differs from the file's stamp, so the file is read.

// blockSums computes the checksums of the blocks of a stream.
type blockSums struct {
	out  []byte
	sum  uint32
	fill int // number of bytes in the current block
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

// intact verifies the blocks of the postings that contain bytes [from, to).
func (s *segment) intact(from, to int) bool { return intact(s.postings, s.sums, from, to) }

// intact verifies the blocks of data that contain bytes [from, to).
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

// readTable reads a section that has a single checksum, and verifies it.
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

// readIntact verifies all blocks of a section, which begins at offset off of the file.
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

// untouched is called after postings were used. It checks that the file was not written
// to in the meantime, or that its contents are still the same.
func (s *segment) untouched() error {
	if s.mapping.Touched() && (!s.intact(0, len(s.postings)) || !intact(s.terms.file, s.terms.sums, 0, len(s.terms.file)) ||
		!intact(s.defs.file, s.defs.sums, 0, len(s.defs.file)) || !intact(s.fields.file, s.fields.sums, 0, len(s.fields.file)) ||
		!intact(s.fieldTerms.file, s.fieldTerms.sums, 0, len(s.fieldTerms.file))) {
		return damaged("it was changed while in use")
	}
	return nil
}
