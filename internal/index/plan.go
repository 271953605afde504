package index

import (
	"cmp"
	"slices"
	"strings"

	"quarry/fault"
	"quarry/internal/rootfs"
	"quarry/internal/trigram"
	"quarry/match"
)

// Ask is a query to a snapshot.
type Ask struct {
	Need match.Need
	// Under is the folder to search. The zero Path is the root.
	Under rootfs.Path
	// Lens decides which files the client sees. If it is nil, the client sees the files of a
	// search without a policy and rules of its own, including hidden files if Hidden is set.
	Lens   *Lens
	Hidden bool
	// Also makes files with one of these flags candidates regardless of their contents:
	// Binary if binary files are searched or reported, Large in multiline mode, Wide with
	// lines of context.
	Also Flags
	// ByLine reports that a text can only satisfy the need within one line, as in a search
	// by lines. Then all grams must be in one block of a file, and Doc.Parts consists of
	// such blocks. Otherwise the grams may be anywhere in the file.
	ByLine bool
	// Terms marks a query for [Snapshot.Counted], which reads almost no files.
	Terms bool
	// Gradual requests the first candidates soon, possibly not all of them. There must be
	// only one pass of [Candidates.Each]. See pieces.go.
	Gradual bool
	piece   int // for tests: number of documents in the first piece; 0 means the default
}

// Plan describes how a query was answered.
type Plan struct {
	Documents  int // number of documents that the client sees in the folder, except dirty ones
	Candidates int // how many of these are candidates
	Dirty      int // number of files that are candidates because they changed
	Blocks     int // number of candidate blocks, with Ask.ByLine
	Grams      int // number of grams in the need
	Lists      int // number of lists read
	// Useless reports that the grams exclude nothing: every file is a candidate.
	Useless bool
	// Partial reports that some files were not looked up yet, so there may be more
	// candidates.
	Partial bool
}

// Candidates are the files that could match.
type Candidates struct {
	Plan Plan

	snap  *snapshot
	need  trigram.Formula
	ask   Ask
	views []viewCandidates
	dirty []dirtyDoc
	open  int // number of views with documents not yet looked up
}

type viewCandidates struct {
	v   *view
	in  span
	ids []uint32 // documents
	all bool
	// unseen contains the documents hidden from the client.
	unseen bitset
	// blocks are the candidate blocks. It is nil without Ask.ByLine.
	blocks []uint32
	piece  span // the documents that ids and blocks cover
	lists  int  // maximum number of lists read for a piece
}

// Candidates answers a query. An error means that the snapshot can't answer: get a new
// snapshot, or scan.
func (s *Snapshot) Candidates(a Ask) (*Candidates, error) {
	c := &Candidates{snap: s.snapshot, need: trigram.From(a.Need), ask: a}
	lens := a.lens()
	c.Plan.Grams = countGrams(&c.need)
	c.Plan.Useless = true
	dir := plain(a.Under)
	for _, v := range s.views {
		vc := viewCandidates{v: v}
		err := guard(func() error {
			lo, hi := v.seg.docs.folder(dir)
			vc.in = span{lo, max(lo, hi)}
			vc.unseen = v.seg.unseen(lens)
			vc.piece = vc.in
			if a.Gradual {
				vc.piece = v.seg.firstPiece(&c.need, vc.in, a.piece)
			}
			return c.find(&vc)
		})
		if err != nil {
			v.damage.Store(&err)
			s.ix.dropDamaged(s.snapshot)
			return nil, err
		}
		seen := without(v.mask, vc.unseen, vc.in.lo, vc.in.hi)
		c.Plan.Documents += seen
		if vc.all {
			c.Plan.Candidates += seen
		} else {
			c.Plan.Useless = false
			if vc.piece.hi < vc.in.hi {
				c.open++
			}
		}
		c.views = append(c.views, vc)
	}
	c.Plan.Partial = c.open > 0
	c.dirty = seenDirty(dirtyBelow(s.dirty, dir), lens)
	c.Plan.Dirty = len(c.dirty)
	return c, nil
}

// find looks up the documents in a piece.
func (c *Candidates) find(vc *viewCandidates) error {
	seg := vc.v.seg
	e := evaluation{seg: seg, byDocument: !c.ask.ByLine, lo: uint32(seg.blocks.first(vc.piece.lo)), hi: uint32(seg.blocks.first(vc.piece.hi))}
	ids, all, err := e.eval(&c.need, nil, true)
	if more := e.lists - vc.lists; more > 0 {
		c.Plan.Lists, vc.lists = c.Plan.Lists+more, e.lists
	}
	if err != nil {
		return err
	}
	if vc.all = all; !all {
		if c.ask.ByLine {
			vc.blocks = ids
			ids = seg.blocks.documents(make([]uint32, 0, len(ids)), ids)
		}
		vc.ids = seg.with(ids, c.ask.Also, vc.piece)
		vc.show()
		c.Plan.Candidates += len(vc.ids)
		c.Plan.Blocks += len(vc.blocks)
	}
	return seg.untouched()
}

// show drops documents that the client may not see, so that counts don't reveal them.
func (vc *viewCandidates) show() {
	hidden := func(id uint32) bool { return vc.v.mask.has(int(id)) || vc.unseen.has(int(id)) }
	if !slices.ContainsFunc(vc.ids, hidden) {
		return // the usual case
	}
	blocks := &vc.v.seg.blocks
	kept, end := vc.ids[:0], vc.blocks[:0]
	rest := vc.blocks
	for _, id := range vc.ids {
		first, last := 0, 0
		if len(rest) > 0 {
			first, last = blocks.first(int(id)), blocks.first(int(id)+1)
		}
		for len(rest) > 0 && int(rest[0]) < first {
			rest = rest[1:]
		}
		seen := !hidden(id)
		if seen {
			kept = append(kept, id)
		}
		for len(rest) > 0 && int(rest[0]) < last {
			if seen {
				end = append(end, rest[0])
			}
			rest = rest[1:]
		}
	}
	vc.ids = kept
	if vc.blocks != nil {
		vc.blocks = end
	}
}

// with adds the documents that are candidates because of their flags.
func (s *segment) with(ids []uint32, also Flags, in span) []uint32 {
	add := func(more []uint32) {
		lo, _ := slices.BinarySearch(more, uint32(in.lo))
		hi, _ := slices.BinarySearch(more, uint32(in.hi))
		if lo < hi {
			ids = trigram.Union(make([]uint32, 0, len(ids)+hi-lo), ids, more[lo:hi])
		}
	}
	add(s.always)
	if also&Binary != 0 {
		add(s.binary)
	}
	if also&Large != 0 {
		add(s.large)
	}
	if also&Wide != 0 {
		add(s.wide)
	}
	return ids
}

func dirtyBelow(all []dirtyDoc, dir string) []dirtyDoc {
	if dir == "" {
		return all
	}
	at := func(path string) int {
		i, _ := slices.BinarySearchFunc(all, path, func(d dirtyDoc, p string) int { return cmp.Compare(d.path, p) })
		return i
	}
	lo := at(dir + "/")
	return all[lo:max(lo, at(dir+string(rune('/'+1))))]
}

func (c *Candidates) merge(every bool) *merge {
	m := &merge{dirty: c.dirty}
	for i := range c.views {
		v := &c.views[i]
		st := &stream{v: v.v, spans: []span{v.in}, ids: v.ids, every: every || v.all, all: v.all, blocks: v.blocks, whole: c.ask.Also, unseen: v.unseen}
		if !v.all && v.piece.hi < v.in.hi {
			st.next = c.pieces(*v)
		}
		m.streams = append(m.streams, st)
	}
	return m
}

// Each calls yield for the candidates in path order until yield returns false. After an
// error, some candidates are missing.
func (c *Candidates) Each(yield func(d *Doc) bool) error {
	return c.pass(c.merge(false), func(d *Doc, _ bool) bool { return yield(d) })
}

// Files calls yield for every file of the folder, in path order. mayMatch reports whether
// the file is a candidate; the other files certainly don't match.
func (c *Candidates) Files(yield func(d *Doc, mayMatch bool) bool) error {
	return c.pass(c.merge(true), yield)
}

func (c *Candidates) pass(m *merge, yield func(*Doc, bool) bool) error {
	for m.next() {
		if !yield(&m.doc, m.mayMatch) {
			return nil
		}
	}
	if m.err != nil {
		c.snap.ix.dropDamaged(c.snap)
	}
	return m.err
}

// Has returns a function that reports whether a document of the i-th segment is a
// candidate. Segments are numbered as in [Counted].
func (c *Candidates) Has(i int) func(id int) bool {
	v := &c.views[i]
	if v.all {
		return func(int) bool { return true }
	}
	return func(id int) bool {
		_, ok := slices.BinarySearch(v.ids, uint32(id))
		return ok
	}
}

func countGrams(f *trigram.Formula) int {
	n := len(f.Grams)
	for i := range f.Subs {
		n += countGrams(&f.Subs[i])
	}
	return n
}

// evaluation finds the blocks of one segment that satisfy a formula or, without ByLine,
// the documents whose blocks together satisfy it.
type evaluation struct {
	seg        *segment
	byDocument bool
	lo, hi     uint32 // range of blocks
	lists      int
}

// nearlyAll reports whether a list has more than nine tenths of all blocks. Such lists
// are the longest and exclude almost nothing, so they are not read.
func (e *evaluation) nearlyAll(n int) bool { return n*10 > e.seg.blocks.n*9 }

// read returns the blocks or documents in a list.
func (e *evaluation) read(entry *gramEntry) ([]uint32, error) {
	e.lists++
	l := e.seg.listOf(entry)
	ids, err := l.Append(make([]uint32, 0, min(l.Len(), int(e.hi-e.lo))), e.lo, e.hi)
	if err == nil && e.byDocument {
		ids = e.seg.blocks.documents(ids[:0], ids)
	}
	return ids, err
}

// filter keeps the elements of cur that are in a list.
func (e *evaluation) filter(entry *gramEntry, cur []uint32) ([]uint32, error) {
	if !e.byDocument {
		e.lists++
		return e.seg.listOf(entry).Filter(cur)
	}
	ids, err := e.read(entry)
	return trigram.Intersect(cur[:0], cur, ids), err
}

const (
	// If so few candidates are left after so many lists, reading the files costs less
	// than reading more lists: 5 to 20 µs per file, 2 µs per list.
	fewLeft    = 4
	enoughRead = 8
)

// term is a part of a conjunction, with an upper bound for the number of blocks that
// satisfy it.
type term struct {
	most int
	list gramEntry
	sub  *trigram.Formula // nil if the term is a gram
}

// eval returns the elements of cur that satisfy f or, if all is set, those of [lo, hi).
// Elements are blocks or documents. cur may be modified.
func (e *evaluation) eval(f *trigram.Formula, cur []uint32, all bool) ([]uint32, bool, error) {
	switch f.Op {
	case trigram.Never:
		return nil, false, nil
	case trigram.All:
		return e.every(f, cur, all)
	case trigram.Either:
		return e.some(f, cur, all)
	}
	return cur, all, nil
}

// every evaluates a conjunction. It starts with the smallest list.
func (e *evaluation) every(f *trigram.Formula, cur []uint32, all bool) ([]uint32, bool, error) {
	terms := make([]term, 0, len(f.Grams)+len(f.Subs))
	for _, g := range f.Grams {
		entry := e.seg.grams.find(g)
		if entry.n == 0 {
			return nil, false, nil
		}
		terms = append(terms, term{most: entry.n, list: entry})
	}
	for i := range f.Subs {
		terms = append(terms, term{most: e.most(&f.Subs[i]), sub: &f.Subs[i]})
	}
	slices.SortStableFunc(terms, func(a, b term) int { return cmp.Compare(a.most, b.most) })
	for i, t := range terms {
		if e.nearlyAll(t.most) || !all && (len(cur) == 0 || i >= enoughRead && len(cur) <= fewLeft) {
			break
		}
		var err error
		switch {
		case t.sub != nil:
			cur, all, err = e.eval(t.sub, cur, all)
		case all:
			cur, err = e.read(&t.list)
			all = false
		default:
			cur, err = e.filter(&t.list, cur)
		}
		if err != nil {
			return nil, false, err
		}
	}
	return cur, all, nil
}

// some evaluates a disjunction.
func (e *evaluation) some(f *trigram.Formula, cur []uint32, all bool) ([]uint32, bool, error) {
	if e.nearlyAll(e.most(f)) {
		return cur, all, nil
	}
	var got, spare []uint32
	for i := range f.Subs {
		ids, whole, err := e.eval(&f.Subs[i], slices.Clone(cur), all)
		if err != nil || whole {
			return cur, all, err
		}
		if len(got) == 0 {
			got = ids
			continue
		}
		spare = trigram.Union(spare[:0], got, ids)
		got, spare = spare, got
		if !all && len(got) == len(cur) {
			break
		}
	}
	return got, false, nil
}

// most returns an upper bound for the number of blocks that satisfy a formula.
func (e *evaluation) most(f *trigram.Formula) int {
	most := e.seg.blocks.n
	switch f.Op {
	case trigram.Never:
		return 0
	case trigram.All:
		for _, g := range f.Grams {
			most = min(most, e.seg.count(g))
		}
		for i := range f.Subs {
			most = min(most, e.most(&f.Subs[i]))
		}
	case trigram.Either:
		sum := 0
		for i := range f.Subs {
			sum += e.most(&f.Subs[i])
		}
		most = min(most, sum)
	}
	return most
}

// String formats a plan in one line, for statistics.
func (p Plan) String() string {
	var b strings.Builder
	if p.Useless {
		b.WriteString("no help from the index: ")
	}
	b.WriteString(fault.Count(p.Candidates, "candidate") + " of " + fault.Count(p.Documents, "file"))
	b.WriteString(", " + fault.Count(p.Lists, "list") + " read for " + fault.Count(p.Grams, "gram"))
	if p.Dirty > 0 {
		b.WriteString(", " + fault.Count(p.Dirty, "changed file"))
	}
	return b.String()
}
