package index

import (
	"cmp"
	"fmt"
	"io"
	"runtime/debug"
	"sync/atomic"

	"quarry/internal/rootfs"
	"quarry/internal/trigram"
)

// segment is an open segment. It is immutable. Its memory is freed when the last
// reference is released.
type segment struct {
	name string
	size int64
	sum  uint32
	text uint64

	docs     docTable
	blocks   blockTable
	grams    gramTable
	postings []byte // mapped from the file
	sums     []byte // checksums of the blocks of postings
	terms    termTable
	defs     defTable

	fields     fieldTable
	fieldTerms termTable
	extractor  uint32 // version of the extractor that made the fields

	// For each flag that a search may request: the documents that have it, in order.
	always, binary, large, wide, linked, ignored []uint32

	trusting   bool
	lenses     lenses
	remembered remembered
	tallies    tallies
	names      nameList
	mapping    mapping
	refs       atomic.Int32
}

// mapping is the contents of a segment: a mapped file, or the bytes of a test.
type mapping interface {
	io.ReaderAt
	Bytes() []byte
	Touched() bool // reports whether the file was written to since the last call, by any process
	Forget()       // frees memory that can be read again
	Close() error
}

// openSegment maps a segment and checks every byte of it, which takes 10 ms for 80 MB. If
// trusting is set, postings are only checked when they are read, for processes that make
// a single search.
func openSegment(state *rootfs.Root, name string, extractor *Extractor, trusting bool) (*segment, error) {
	m, err := state.Map(state.Own(name))
	if err != nil {
		return nil, err
	}
	return newSegment(m, name, extractor, trusting)
}

// newSegment checks the mapped bytes. If they are not a valid segment, it closes the
// mapping.
func newSegment(m mapping, name string, extractor *Extractor, trusting bool) (*segment, error) {
	s := &segment{name: name, size: int64(len(m.Bytes())), mapping: m, extractor: extractor.version(), trusting: trusting}
	s.refs.Store(1)
	err := guard(func() error { return s.parse(m.Bytes()) })
	if err != nil {
		m.Close()
		return nil, fmt.Errorf("segment %s: %w", name, err)
	}
	return s, nil
}

// guard converts faults in mapped memory, and panics because of invalid bytes, to errors.
// The disk under a mapping may fail at any time.
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
	if f.extractor != s.extractor {
		return damaged("made with another extractor")
	}
	var part [sections][]byte
	for i, sec := range f.table {
		part[i] = sec.in(data)
		if i == secPostings || i == secTerms || i == secDefs || i == secFields || i == secFieldTerms {
			continue // their blocks have checksums
		}
		if part[i], err = s.readTable(i, sec); err != nil {
			return err
		}
	}
	s.sum, s.text = sum, f.text
	s.postings, s.sums = part[secPostings], part[secSums]
	s.terms = termTable{n: int(f.terms), docs: int(f.docs), heads: part[secTermHeads], file: part[secTerms], sums: part[secTermSums]}
	code, err := decodeNameCode(part[secDefCode])
	if err != nil {
		return err
	}
	s.defs = defTable{n: int(f.names), docs: int(f.docs), heads: part[secDefHeads], firsts: part[secDefFirsts], code: code, file: part[secDefs], sums: part[secDefSums],
		containers: docTable{n: int(f.containers), paths: part[secContainers], restarts: part[secContainerRestarts]},
		counts:     part[secDefCounts], restarts: part[secDefCountRestarts]}
	s.fields = fieldTable{docs: int(f.docs), heads: part[secFieldHeads], file: part[secFields], sums: part[secFieldSums]}
	s.fieldTerms = termTable{n: int(f.fieldTerms), docs: int(f.docs), heads: part[secFieldTermHeads], file: part[secFieldTerms], sums: part[secFieldTermSums]}
	for sec, sums := range map[int][]byte{secPostings: s.sums, secTerms: s.terms.sums, secDefs: s.defs.sums, secFields: s.fields.sums, secFieldTerms: s.fieldTerms.sums} {
		data := part[sec]
		if len(sums) != (len(data)+sumBlock-1)/sumBlock*4 {
			return damaged("sums of section %d", sec)
		}
		if s.trusting {
			continue // checked when they are read
		}
		if err := s.readIntact(int64(f.table[sec].off), len(data), sums); err != nil {
			return err
		}
	}
	if err := s.terms.check(); err != nil {
		return err
	}
	if err := s.defs.check(); err != nil {
		return err
	}
	if err := cmp.Or(s.fields.check(), s.fieldTerms.check()); err != nil {
		return err
	}
	s.docs = docTable{int(f.docs), part[secPaths], part[secRestarts], part[secStamps], part[secFlags], part[secParts]}
	s.grams = gramTable{n: int(f.grams), heads: part[secGrams], entries: part[secEntries]}
	if err := s.docs.check(); err != nil {
		return err
	}
	if err := s.grams.check(int(f.blocks), len(s.postings)); err != nil {
		return err
	}
	if s.blocks, err = openBlocks(part[secBlocks], int(f.blocks), int(f.docs)); err != nil {
		return err
	}
	if err := s.blocks.check(&s.docs); err != nil {
		return err
	}
	s.docs.stamps = f.table[secStamps].in(data) // stamps stay in the file
	for id := range s.docs.n {
		flags := s.docs.flag(id)
		if flags == 0 {
			continue // the usual case
		}
		for _, of := range []struct {
			flag Flags
			list *[]uint32
		}{{AlwaysScan, &s.always}, {Binary, &s.binary}, {Large, &s.large}, {Wide, &s.wide}, {Linked, &s.linked}, {Ignored, &s.ignored}} {
			if flags&of.flag != 0 {
				*of.list = append(*of.list, uint32(id))
			}
		}
	}
	return nil
}

func termsOf(s *segment) *termTable { return &s.terms }

func fieldTermsOf(s *segment) *termTable { return &s.fieldTerms }

func (s *segment) retain() { s.refs.Add(1) }

func (s *segment) release() {
	if s.refs.Add(-1) == 0 {
		s.mapping.Close()
	}
}

// listOf returns the list of an entry, whose bytes it has checked. It panics if they are
// damaged; guard turns that into an error.
func (s *segment) listOf(e *gramEntry) trigram.List {
	switch e.n {
	case 0:
		return trigram.List{}
	case 1:
		return trigram.OpenList(trigram.AppendList(nil, []uint32{uint32(e.where)}, s.blocks.n), 1, s.blocks.n)
	}
	if !s.intact(int(e.where), int(e.where)+e.size) {
		panic("checksum of a list")
	}
	return trigram.OpenList(s.postings[e.where:], e.n, s.blocks.n)
}

// count returns the number of blocks that contain a gram.
func (s *segment) count(g trigram.Gram) int { return s.grams.find(g).n }
