package index

import (
	"fmt"
	"hash/crc32"
	"io"

	"quarry/internal/rootfs"
	"quarry/internal/trigram"
)

// segmentWriter writes a segment from front to back: lists in the order of
// their grams, then the tables.
type segmentWriter struct {
	w    io.Writer
	off  uint64
	foot footer

	grams gramWriter
	sums  blockSums // of the postings so far
	start uint64
}

func newSegmentWriter(w io.Writer) (*segmentWriter, error) {
	s := &segmentWriter{w: w}
	if err := s.put([]byte(segmentMagic)); err != nil {
		return nil, err
	}
	s.start = s.off
	return s, nil
}

func (s *segmentWriter) put(b []byte) error {
	n, err := s.w.Write(b)
	s.off += uint64(n)
	return err
}

// part is a stretch of lists, encoded one behind the other.
type part struct {
	entries []partEntry
	data    []byte
}

// partEntry is a gram's, as gramWriter takes it.
type partEntry struct {
	gram  trigram.Gram
	n     int
	value uint64
}

func (p *part) reset() { p.entries, p.data = p.entries[:0], p.data[:0] }

// add encodes the list of the next gram.
func (p *part) add(g trigram.Gram, ids []uint32, blocks int) {
	if len(ids) == 1 {
		p.entries = append(p.entries, partEntry{g, 1, uint64(ids[0])})
		return
	}
	at := len(p.data)
	p.data = trigram.AppendList(p.data, ids, blocks)
	p.entries = append(p.entries, partEntry{g, len(ids), uint64(len(p.data) - at)})
}

// lists writes the lists of a part.
func (s *segmentWriter) lists(p *part) error {
	for _, e := range p.entries {
		s.grams.add(e.gram, e.n, e.value)
	}
	s.sums.add(p.data)
	return s.put(p.data)
}

// finish writes the tables and the footer and returns the segment's sum.
func (s *segmentWriter) finish(d *docWriter, text uint64) (uint32, error) {
	if uint64(len(d.paths)) > 1<<32-1 || d.blocks.n > maxDocs {
		return 0, fmt.Errorf("segment of %d documents and %d blocks is too large", d.n, d.blocks.n)
	}
	var pad [postingsPad]byte
	s.sums.add(pad[:])
	if err := s.put(pad[:]); err != nil {
		return 0, err
	}
	s.foot.docs, s.foot.grams, s.foot.text = uint32(d.n), uint32(s.grams.n), text
	s.foot.blocks = uint32(d.blocks.n)
	s.foot.table[secPostings] = section{s.start, s.off - s.start, 0} // its blocks have sums
	for _, sec := range []struct {
		id   int
		data []byte
	}{
		{secGrams, s.grams.heads}, {secEntries, s.grams.entries}, {secRestarts, d.restarts},
		{secPaths, d.paths}, {secStamps, d.stamps}, {secFlags, d.flags},
		{secBlocks, append(d.blocks.entries, d.blocks.starts...)}, {secSums, s.sums.finish()},
	} {
		if err := s.put(pad[:(8-s.off%8)%8]); err != nil {
			return 0, err
		}
		s.foot.table[sec.id] = section{s.off, uint64(len(sec.data)), crc32.Checksum(sec.data, castagnoli)}
		if err := s.put(sec.data); err != nil {
			return 0, err
		}
	}
	foot, sum := s.foot.append(nil)
	return sum, s.put(foot)
}

// createSegment writes a segment under a name of its own and opens it.
func createSegment(state *rootfs.Root, name string, fill func(w *segmentWriter) error) (*segment, error) {
	p, err := state.Known(name)
	if err != nil {
		return nil, err
	}
	_, err = state.CreateFunc(p, &rootfs.CreateOptions{Mode: 0o600}, func(w *rootfs.Writer) error {
		buf := &buffered{w: w}
		s, err := newSegmentWriter(buf)
		if err != nil {
			return err
		}
		if err := fill(s); err != nil {
			return err
		}
		return buf.flush()
	})
	if err != nil {
		return nil, fmt.Errorf("write segment: %w", err)
	}
	return openSegment(state, name, false)
}

// buffered gathers small writes.
type buffered struct {
	w   io.Writer
	buf []byte
}

func (b *buffered) Write(p []byte) (int, error) {
	if len(b.buf)+len(p) > 1<<20 {
		if err := b.flush(); err != nil {
			return 0, err
		}
		if len(p) > 1<<19 {
			return b.w.Write(p)
		}
	}
	b.buf = append(b.buf, p...)
	return len(p), nil
}

func (b *buffered) flush() error {
	_, err := b.w.Write(b.buf)
	b.buf = b.buf[:0]
	return err
}
