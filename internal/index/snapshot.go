package index

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"sort"
	"sync/atomic"

	"quarry/internal/policy"
	"quarry/internal/rootfs"
	"quarry/internal/walk"
)

// Fresh returns the state of the tree when Fresh was called, or a later state. The caller
// must close the Snapshot.
func (ix *Index) Fresh(ctx context.Context) (*Snapshot, error) {
	ix.freshening.Lock()
	defer ix.freshening.Unlock()
	var unwatched []rootfs.Path
	if ix.opts.Source != nil {
		var err error
		if unwatched, err = ix.opts.Source.Barrier(ctx, ix.apply); err != nil {
			return nil, err
		}
	}
	for {
		segments := ix.Status().Segments
		err := ix.catchUp(ctx, unwatched)
		if err == nil {
			return ix.Snapshot()
		}
		// The damaged segment was dropped, so its files are now new: try again.
		if !errors.Is(err, ErrDamaged) || ix.Status().Segments >= segments {
			return nil, err
		}
	}
}

// catchUp makes the necessary sweeps and resolves the marked files.
func (ix *Index) catchUp(ctx context.Context, unwatched []rootfs.Path) error {
	var dirs []string
	for _, p := range unwatched {
		dirs = append(dirs, plain(p))
	}
	ix.mu.Lock()
	if !ix.swept || ix.opts.Source == nil {
		dirs = append(dirs, "")
	}
	for path := range ix.unreadable {
		if path == "." {
			path = ""
		}
		dirs = append(dirs, path)
	}
	taken, unsure := ix.trees, ix.unsure
	ix.trees, ix.unsure = map[string]bool{}, false
	ix.mu.Unlock()
	for d := range taken {
		dirs = append(dirs, d)
	}
	var err error
	switch all := slices.Contains(dirs, ""); { // a sweep of the root also compares stamps
	case !all && unsure:
		err = ix.restamp(ctx, dirs)
	case !all:
		err = ix.restampLinked(ctx)
	}
	if err == nil {
		err = ix.settleAll(ctx, dirs)
	}
	if err != nil { // the rest must be done later
		ix.mu.Lock()
		for d := range taken {
			ix.trees[d] = true
		}
		ix.unsure = ix.unsure || unsure
		ix.mu.Unlock()
	}
	return err
}

func (ix *Index) settleAll(ctx context.Context, dirs []string) error {
	for {
		if len(dirs) > 0 {
			if err := ix.sweep(ctx, dirs); err != nil {
				return err
			}
		}
		var err error
		if dirs, err = ix.resolve(ctx); err != nil {
			return err
		}
		// These folders were marked as files. Sweep them and resolve again, until there
		// are none.
		if len(dirs) == 0 {
			return nil
		}
	}
}

// Snapshot returns the state known to the index, without checking for changes.
func (ix *Index) Snapshot() (*Snapshot, error) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if ix.closed {
		return nil, rootfs.ErrClosed
	}
	if ix.snap == nil {
		ix.snap = ix.newSnapshot()
	}
	ix.snap.refs.Add(1)
	return &Snapshot{snapshot: ix.snap}, nil
}

// forgetSnapshot must be called before every change that affects a snapshot. ix.mu must
// be held.
func (ix *Index) forgetSnapshot() {
	if ix.snap != nil {
		ix.snap.release()
		ix.snap = nil
	}
}

func (ix *Index) newSnapshot() *snapshot {
	s := &snapshot{ix: ix, ignored: ix.ignored, state: new(State)}
	s.refs.Store(1)
	for _, h := range ix.segs {
		h.seg.retain()
		h.shared = true
		s.views = append(s.views, &view{seg: h.seg, held: h, mask: h.mask})
	}
	for _, skip := range ix.unreadable {
		s.skipped = append(s.skipped, skip)
	}
	sort.Slice(s.skipped, func(i, j int) bool { return s.skipped[i].Path < s.skipped[j].Path })
	for path, c := range ix.dirty {
		if c.member {
			s.dirty = append(s.dirty, dirtyDoc{path, c.as})
		}
	}
	slices.SortFunc(s.dirty, func(a, b dirtyDoc) int { return cmp.Compare(a.path, b.path) })
	return s
}

// Snapshot is an immutable state of the index.
type Snapshot struct {
	*snapshot
	closed atomic.Bool
}

// Close releases the snapshot. Closing twice is harmless.
func (s *Snapshot) Close() {
	if s.closed.CompareAndSwap(false, true) {
		s.release()
	}
}

// snapshot is the state shared by several Snapshots.
type snapshot struct {
	ix      *Index
	views   []*view    // oldest first
	dirty   []dirtyDoc // sorted
	skipped []walk.Skip
	ignored bool // includes ignored files
	state   *State
	refs    atomic.Int32
}

// State identifies the contents of a snapshot. As long as it is the same, no file has changed.
type State struct{ _ byte }

// State returns the identity of the snapshot's contents. It is nil while files are dirty,
// because their contents are unknown.
func (s *Snapshot) State() *State {
	if len(s.dirty) > 0 {
		return nil
	}
	return s.state
}

type view struct {
	seg    *segment
	held   *held
	mask   bitset // documents that are dead or dirty
	damage atomic.Pointer[error]
}

type dirtyDoc struct {
	path string
	as   Flags // Hidden, Ignored
}

func (s *snapshot) release() {
	if s.refs.Add(-1) == 0 {
		for _, v := range s.views {
			v.seg.release()
		}
	}
}

// Skipped lists the folders that could not be read, in path order. Their files
// are not in the snapshot.
func (s *Snapshot) Skipped() []walk.Skip { return s.skipped }

// Ignored reports whether the snapshot includes the files that ignore rules exclude.
func (s *Snapshot) Ignored() bool { return s.ignored }

// Lookup returns the snapshot's document for a file.
func (s *Snapshot) Lookup(path string) (Doc, bool) {
	i, ok := slices.BinarySearchFunc(s.dirty, path, func(d dirtyDoc, p string) int { return cmp.Compare(d.path, p) })
	if ok {
		return s.dirty[i].doc(), true
	}
	for _, v := range s.views {
		var doc Doc
		found := false
		err := guard(func() error {
			if id := v.seg.docs.find([]byte(path)); id >= 0 && !v.mask.has(id) {
				doc = Doc{path: []byte(path), Stamp: v.seg.docs.stamp(id), Flags: v.seg.docs.flag(id)}
				found = true
			}
			return nil
		})
		if err != nil {
			v.damage.Store(&err)
			s.ix.dropDamaged(s.snapshot)
		}
		if found {
			return doc, true
		}
	}
	return Doc{}, false
}

// Doc is a file in a snapshot.
type Doc struct {
	path []byte
	Stamp
	Flags
	// Parts are the only parts of the file that could match, as long as the file has the
	// stamp. Each consists of whole lines; nil means the whole file. They are only
	// computed if Ask.ByLine is set.
	Parts []Part
	// Dirty files have no stamp. Their contents are unknown.
	Dirty bool
}

// Path returns the file's path below the root.
func (d *Doc) Path() string { return string(d.path) }

// PathBytes returns the path without a copy. It is only valid until the next document is
// read.
func (d *Doc) PathBytes() []byte { return d.path }

func (d *dirtyDoc) doc() Doc { return Doc{path: []byte(d.path), Dirty: true, Flags: d.flags()} }

// flags returns the flags of a changed file that follow from its name.
func (d *dirtyDoc) flags() (f Flags) {
	f = d.as
	if policy.IsSecret(d.path) {
		f |= Secret
	}
	return f
}

// span is a range of documents of one segment.
type span struct{ lo, hi int }

// stream iterates over the documents of one view in order. It decodes a page of documents
// at a time.
type stream struct {
	v     *view
	spans []span
	ids   []uint32 // documents that are candidates
	every bool     // visit all documents in the span; mayMatch tells the candidates
	all   bool     // all documents are candidates
	// blocks are the candidate blocks, if requested. Documents with a flag in whole are
	// always candidates as a whole.
	blocks []uint32
	whole  Flags
	unseen bitset // documents to skip; nil if there are none
	// next looks up the next piece of documents, if candidates are found gradually. It
	// returns false if there are no more.
	next func(s *stream) (bool, error)

	reader pathReader
	buf    []byte // paths in the page
	stamps []byte // stamps of the page's documents
	page   []pageDoc
	pos    int
}

// pageDoc is kept small, because a listing may read a million of them.
type pageDoc struct {
	start, end int32 // range of the path in buf
	id         int32
	flags      Flags
	mayMatch   bool
	parts      []Part
}

// path returns the path of the document at pos.
func (s *stream) path() []byte {
	p := &s.page[s.pos]
	return s.buf[p.start:p.end]
}

const pageSize = 128

// more reports whether there is a document at pos. It reads a page if necessary.
func (s *stream) more() (bool, error) {
	if s.pos < len(s.page) {
		return true, nil
	}
	s.page, s.buf, s.stamps, s.pos = s.page[:0], s.buf[:0], s.stamps[:0], 0
	if err := guard(s.fill); err != nil {
		s.v.damage.Store(&err)
		return false, err
	}
	s.stamp()
	return len(s.page) > 0, nil
}

// stamp adds the stamps of a page's documents, and values that depend on them. Stamps are read
// from the file. If that fails, all of them are zero; they then differ from those of the actual
// files, which are therefore read.
func (s *stream) stamp() {
	t := &s.v.seg.docs
	s.stamps = slices.Grow(s.stamps, len(s.page)*stampSize)[:len(s.page)*stampSize]
	err := guard(func() error {
		for i := range s.page {
			id := int(s.page[i].id)
			copy(s.stamps[i*stampSize:], t.stamps[id*stampSize:(id+1)*stampSize])
		}
		return nil
	})
	if err != nil {
		clear(s.stamps)
		s.v.damage.Store(&err)
		return
	}
	for i := range s.page {
		doc := &s.page[i]
		if doc.mayMatch && s.blocks != nil && doc.flags&(s.whole|AlwaysScan) == 0 {
			doc.parts = s.v.seg.blocks.parts(int(doc.id), readStamp(s.stamps[i*stampSize:]).Size, s.blocks)
		}
	}
}

// fill reads a page. A page ends at the end of a piece, since blocks belong to one piece.
func (s *stream) fill() error {
	for {
		if s.fillPiece(); len(s.page) > 0 || s.next == nil {
			return nil
		}
		if ok, err := s.next(s); !ok || err != nil {
			return err
		}
	}
}

func (s *stream) fillPiece() {
	s.reader.t = &s.v.seg.docs
	for len(s.page) < pageSize && len(s.spans) > 0 {
		sp := &s.spans[0]
		if !s.every {
			for len(s.ids) > 0 && int(s.ids[0]) < sp.lo {
				s.ids = s.ids[1:]
			}
			if len(s.ids) == 0 {
				return
			}
			sp.lo = int(s.ids[0])
		}
		if sp.lo >= sp.hi {
			s.spans = s.spans[1:]
			continue
		}
		id := sp.lo
		sp.lo++
		if !s.v.mask.has(id) && (s.unseen == nil || !s.unseen.has(id)) {
			s.add(id)
		}
	}
}

func (s *stream) add(id int) {
	t := &s.v.seg.docs
	s.reader.seek(id)
	start := len(s.buf)
	s.buf = append(s.buf, s.reader.next()...)
	for len(s.ids) > 0 && int(s.ids[0]) < id {
		s.ids = s.ids[1:]
	}
	may := s.all || !s.every || len(s.ids) > 0 && int(s.ids[0]) == id
	s.page = append(s.page, pageDoc{start: int32(start), end: int32(len(s.buf)), id: int32(id), flags: t.flag(id), mayMatch: may})
}

// merge iterates over several streams and the dirty files in path order. For equal paths, the
// document of the newest segment comes first.
type merge struct {
	streams []*stream
	dirty   []dirtyDoc

	doc      Doc
	mayMatch bool
	err      error
	from     *stream // the stream of doc; nil if it is dirty
	id       int
	ready    bool // doc is set and was not skipped yet
}

// peek sets doc to the next document.
func (m *merge) peek() bool {
	if m.ready || m.err != nil {
		return m.err == nil
	}
	var best []byte
	m.from = nil
	for i := len(m.streams) - 1; i >= 0; i-- {
		s := m.streams[i]
		ok, err := s.more()
		if err != nil {
			m.err = err
			return false
		}
		if !ok {
			m.streams = slices.Delete(m.streams, i, i+1)
			continue
		}
		if path := s.path(); m.from == nil || bytes.Compare(path, best) < 0 {
			best, m.from = path, s
		}
	}
	if len(m.dirty) > 0 && (m.from == nil || m.dirty[0].path <= string(best)) {
		m.doc, m.from, m.mayMatch = m.dirty[0].doc(), nil, true
		m.ready = true
		return true
	}
	if m.from == nil {
		return false
	}
	p := &m.from.page[m.from.pos]
	m.doc = Doc{path: best, Stamp: readStamp(m.from.stamps[m.from.pos*stampSize:]), Flags: p.flags, Parts: p.parts}
	m.id, m.mayMatch = int(p.id), p.mayMatch
	m.ready = true
	return true
}

// skip moves past doc. doc stays valid until the next peek.
func (m *merge) skip() {
	if m.from == nil {
		m.dirty = m.dirty[1:]
	} else {
		m.from.pos++
	}
	m.ready = false
}

func (m *merge) next() bool {
	if !m.peek() {
		return false
	}
	m.skip()
	return true
}

// place returns the segment, number and path of doc.
func (m *merge) place() place { return place{m.from.v.held, m.id, string(m.doc.path)} }

// documents iterates over all documents in folders, except dirty ones.
func (s *snapshot) documents(dirs []string) *merge {
	m := &merge{}
	for _, v := range s.views {
		st := &stream{v: v, every: true, all: true}
		err := guard(func() error {
			for _, d := range dirs {
				lo, hi := v.seg.docs.folder(d)
				st.spans = append(st.spans, span{lo, hi})
			}
			return nil
		})
		if err != nil {
			v.damage.Store(&err)
			m.err = err
		}
		m.streams = append(m.streams, st)
	}
	return m
}
