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

// Fresh returns the state of the tree as it was when the call arrived, or
// later. Close the Snapshot when the search is done.
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
		// A damaged segment is dropped; without it, its files are new.
		if !errors.Is(err, ErrDamaged) || ix.Status().Segments >= segments {
			return nil, err
		}
	}
}

// catchUp does the due sweeps and resolves the marked files.
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
	switch all := slices.Contains(dirs, ""); { // a sweep of all compares stamps, too
	case !all && unsure:
		err = ix.restamp(ctx, dirs)
	case !all:
		err = ix.restampLinked(ctx)
	}
	if err == nil {
		err = ix.settleAll(ctx, dirs)
	}
	if err != nil { // the rest has to be done later
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
		// Folders that were marked as files. After sweeping them there are no more of them.
		if len(dirs) == 0 {
			return nil
		}
	}
}

// Snapshot returns the known state, without checking whether anything has changed
// since.
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

// forgetSnapshot is called, with ix.mu held, before every change that affects a snapshot.
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

// Snapshot is the index at one moment.
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

// snapshot is the shared state of several Snapshots.
type snapshot struct {
	ix      *Index
	views   []*view    // oldest first
	dirty   []dirtyDoc // sorted
	skipped []walk.Skip
	ignored bool // ignored files are in it, too
	state   *State
	refs    atomic.Int32
}

// State identifies the contents of a snapshot: as long as it is the same, no file has changed.
type State struct{ _ byte }

// State returns the identity of the snapshot's contents. It is nil while files are dirty, since only their
// names are known.
func (s *Snapshot) State() *State {
	if len(s.dirty) > 0 {
		return nil
	}
	return s.state
}

type view struct {
	seg    *segment
	held   *held
	mask   bitset // documents that don't count
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

// Ignored reports whether the snapshot has the files that ignore rules exclude.
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

// WithFlags passes the documents that have one of some flags, in path order.
// Dirty files are not among them.
func (s *Snapshot) WithFlags(flags Flags, yield func(d *Doc) bool) error {
	m := s.documents([]string{""})
	for m.next() {
		if m.doc.Flags&flags != 0 && !yield(&m.doc) {
			return nil
		}
	}
	if m.err != nil {
		s.ix.dropDamaged(s.snapshot)
	}
	return m.err
}

// Doc is a file in a snapshot.
type Doc struct {
	path []byte
	Stamp
	Flags
	// Parts are the only parts of the file that could contain a match, as long as
	// it has the stamp. Each consists of whole lines. nil means the whole file.
	// They are computed if Ask.ByLine was set.
	Parts []Part
	// Dirty files have no stamp, and their content is unknown.
	Dirty bool
}

// Path returns the file's path below the root.
func (d *Doc) Path() string { return string(d.path) }

// PathBytes is Path without a copy: it is valid until the next document.
func (d *Doc) PathBytes() []byte { return d.path }

func (d *dirtyDoc) doc() Doc { return Doc{path: []byte(d.path), Dirty: true, Flags: d.flags()} }

// flags returns the flags that follow from the name of a changed file.
func (d *dirtyDoc) flags() (f Flags) {
	f = d.as
	if policy.IsSecret(d.path) {
		f |= Secret
	}
	return f
}

// span is a range of documents of one segment.
type span struct{ lo, hi int }

// stream iterates over the documents of one view, in order. It decodes a page of them at a
// time into memory of its own.
type stream struct {
	v     *view
	spans []span
	ids   []uint32 // of the candidates
	every bool     // visit all documents of spans; mayMatch marks the candidates
	all   bool     // all are candidates
	// blocks are the candidate blocks, if requested. Documents with a flag in whole are
	// candidates as a whole.
	blocks []uint32
	whole  Flags
	unseen bitset // documents to skip; nil if there are none
	// next looks up the next piece of the documents, if the candidates are found
	// gradually. It reports false after the last one.
	next func(s *stream) (bool, error)

	reader pathReader
	buf    []byte // paths of the page
	stamps []byte // their stamps
	page   []pageDoc
	pos    int
}

// pageDoc is small, as a listing may pass a million of them.
type pageDoc struct {
	start, end int32 // in buf
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

// more reports whether there is a document at pos, and reads a page if necessary.
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

// stamp adds the stamps of a page and the values that depend on them. Stamps are read from the file. If they
// are unreadable, all are zero and differ from the stamps of the files, so the files are read.
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

// fill reads a page. It ends at the end of a piece, since blocks belong to one piece.
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

// merge iterates over several streams and the dirty files in path order. Of equal paths, the path from the
// newest segment comes first.
type merge struct {
	streams []*stream
	dirty   []dirtyDoc

	doc      Doc
	mayMatch bool
	err      error
	from     *stream // of doc; nil if dirty
	id       int
	ready    bool // doc is set and not passed
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

// skip moves past doc, which stays valid until the next peek.
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

// place returns the place of doc.
func (m *merge) place() place { return place{m.from.v.held, m.id, string(m.doc.path)} }

// documents iterates over all documents of some folders, without dirty ones.
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
