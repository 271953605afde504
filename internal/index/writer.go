package index

import (
	"fmt"
	"hash/crc32"
	"io"

	"quarry/internal/rootfs"
	"quarry/internal/trigram"
)

// segmentWriter writes a segment from start to end: the lists in gram order, then the
// tables.
type segmentWriter struct {
	w    io.Writer
	off  uint64
	foot footer

	grams gramWriter
	terms termWriter
	defs  defTables

	fields     fieldWriter
	fieldTerms termWriter

	sums  blockSums // checksums of the current section
	start uint64    // start of the current section
}

func newSegmentWriter(w io.Writer, extractor *Extractor) (*segmentWriter, error) {
	s := &segmentWriter{w: w}
	s.foot.extractor = extractor.version()
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

// part is a sequence of encoded lists of grams.
type part struct {
	entries []partEntry
	data    []byte
}

// partEntry is an entry as gramWriter takes it.
type partEntry struct {
	gram  trigram.Gram
	n     int
	value uint64
}

func (p *part) reset() { p.entries, p.data = p.entries[:0], p.data[:0] }

// add encodes the list of blocks of the next gram.
func (p *part) add(g trigram.Gram, ids []uint32, blocks int) {
	if len(ids) == 1 {
		p.entries = append(p.entries, partEntry{g, 1, uint64(ids[0])})
		return
	}
	at := len(p.data)
	p.data = trigram.AppendList(p.data, ids, blocks)
	p.entries = append(p.entries, partEntry{g, len(ids), uint64(len(p.data) - at)})
}

// lists writes the posting lists of a part and adds their entries to the table of grams.
func (s *segmentWriter) lists(p *part) error {
	for _, e := range p.entries {
		s.grams.add(e.gram, e.n, e.value)
	}
	s.sums.add(p.data)
	return s.put(p.data)
}

// termLists writes the lists of a part and adds their entries to a table of terms.
func (s *segmentWriter) termLists(to *termWriter, p *termPart) error {
	for i := range p.entries {
		to.add(&p.entries[i])
	}
	s.sums.add(p.data)
	return s.put(p.data)
}

// endStream ends a section that was written in pieces. It returns the checksums of its
// blocks.
func (s *segmentWriter) endStream(id int) ([]byte, error) {
	var pad [postingsPad]byte
	s.sums.add(pad[:])
	if err := s.put(pad[:]); err != nil {
		return nil, err
	}
	s.foot.table[id] = section{s.start, s.off - s.start, 0} // no checksum, since its blocks have their own
	sums := s.sums.finish()
	s.sums = blockSums{}
	err := s.put(pad[:(8-s.off%8)%8])
	s.start = s.off
	return sums, err
}

// streams write the sections that follow the grams, piece by piece.
type streams struct{ terms, definitions, fields, fieldTerms func() error }

// tables writes everything after the grams: the streams, the tables and the footer. It returns
// the segment's checksum.
func (s *segmentWriter) tables(d *docWriter, from streams) (uint32, error) {
	if uint64(len(d.paths)) > 1<<32-1 || d.blocks.n > maxDocs {
		return 0, fmt.Errorf("segment of %d documents and %d blocks is too large", d.n, d.blocks.n)
	}
	gramSums, err := s.endStream(secPostings)
	if err != nil {
		return 0, err
	}
	termSums, err := s.termSection(secTerms, &s.terms, from.terms)
	if err != nil {
		return 0, err
	}
	if err := from.definitions(); err != nil {
		return 0, err
	}
	if s.defs.sums, err = s.endStream(secDefs); err != nil {
		return 0, err
	}
	if err := from.fields(); err != nil {
		return 0, err
	}
	if s.fields.sums, err = s.endStream(secFields); err != nil {
		return 0, err
	}
	fieldSums, err := s.termSection(secFieldTerms, &s.fieldTerms, from.fieldTerms)
	if err != nil {
		return 0, err
	}
	return s.finish(d, gramSums, termSums, fieldSums)
}

// termSection writes lists and then their entries. It returns the checksums.
func (s *segmentWriter) termSection(id int, w *termWriter, lists func() error) ([]byte, error) {
	if err := lists(); err != nil {
		return nil, err
	}
	w.place()
	s.sums.add(w.entries)
	if err := s.put(w.entries); err != nil {
		return nil, err
	}
	return s.endStream(id)
}

// defTables are the parts of the table of definitions that are written at the end.
type defTables struct {
	n, containers                    int
	heads, firsts, code, sums        []byte
	containerData, containerRestarts []byte
	counts, countRestarts            []byte
}

// definitions writes the definitions of a number of documents. sources returns new sequences
// of definitions. It is called twice; the first ones are only used to sample names.
func (s *segmentWriter) definitions(docs int, containers []string, sources func() []defSource) error {
	w := &defWriter{code: codeOf(sources()), counts: make([]kindCounts, docs)}
	put := func(data []byte) error {
		s.sums.add(data)
		return s.put(data)
	}
	if err := joinDefs(w, sources(), func() error { return put(w.take()) }); err != nil {
		return err
	}
	if err := w.grams.write(put); err != nil {
		return err
	}
	var names docWriter
	for _, c := range containers {
		names.addPath(w.code.append(nil, []byte(c)))
	}
	s.defs = defTables{n: w.n, containers: len(containers), heads: w.heads, firsts: w.firsts, code: w.code.encode(),
		containerData: names.paths, containerRestarts: names.restarts}
	s.defs.counts, s.defs.countRestarts = w.countTable()
	return nil
}

func (s *segmentWriter) finish(d *docWriter, gramSums, termSums, fieldSums []byte) (uint32, error) {
	var pad [8]byte
	s.foot.docs, s.foot.grams, s.foot.text = uint32(d.n), uint32(s.grams.n), d.text
	s.foot.blocks, s.foot.terms = uint32(d.blocks.n), uint32(s.terms.n)
	s.foot.names, s.foot.containers = uint32(s.defs.n), uint32(s.defs.containers)
	s.foot.fieldTerms = uint32(s.fieldTerms.n)
	for _, sec := range []struct {
		id   int
		data []byte
	}{
		{secGrams, s.grams.heads}, {secEntries, s.grams.entries}, {secRestarts, d.restarts},
		{secPaths, d.paths}, {secStamps, d.stamps}, {secFlags, d.flags},
		{secBlocks, append(d.blocks.entries, d.blocks.starts...)}, {secSums, gramSums},
		{secTermHeads, s.terms.heads}, {secTermSums, termSums}, {secParts, d.parts},
		{secDefHeads, s.defs.heads}, {secDefFirsts, s.defs.firsts}, {secDefCode, s.defs.code}, {secDefSums, s.defs.sums},
		{secContainers, s.defs.containerData}, {secContainerRestarts, s.defs.containerRestarts},
		{secDefCounts, s.defs.counts}, {secDefCountRestarts, s.defs.countRestarts},
		{secFieldHeads, s.fields.heads}, {secFieldSums, s.fields.sums},
		{secFieldTermHeads, s.fieldTerms.heads}, {secFieldTermSums, fieldSums},
	} {
		if err := s.put(pad[:(8-s.off%8)%8]); err != nil {
			return 0, err
		}
		s.foot.table[sec.id] = section{s.off, uint64(len(sec.data)), crc32.Checksum(sec.data, castagnoli())}
		if err := s.put(sec.data); err != nil {
			return 0, err
		}
	}
	foot, sum := s.foot.append(nil)
	return sum, s.put(foot)
}

// createSegment writes a segment under a new name and opens it.
func createSegment(state *rootfs.Root, name string, extractor *Extractor, fill func(w *segmentWriter) error) (*segment, error) {
	_, err := state.CreateFunc(state.Own(name), &rootfs.CreateOptions{Mode: 0o600}, func(w *rootfs.Writer) error {
		buf := &buffered{w: w}
		s, err := newSegmentWriter(buf, extractor)
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
	return openSegment(state, name, extractor, false)
}

// buffered buffers small writes.
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
