package index

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"sync/atomic"

	"quarry/internal/rootfs"
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
	if err := ix.catchUp(ctx, unwatched); err != nil {
		return nil, err
	}
	return ix.Snapshot()
}

// catchUp sweeps what has to be and resolves what was marked.
func (ix *Index) catchUp(ctx context.Context, unwatched []rootfs.Path) error {
	var dirs []string
	for _, p := range unwatched {
		dirs = append(dirs, plain(p))
	}
	ix.mu.Lock()
	if !ix.swept || ix.opts.Source == nil {
		dirs = append(dirs, "")
	}
	taken := ix.trees
	ix.trees = map[string]bool{}
	ix.mu.Unlock()
	for d := range taken {
		dirs = append(dirs, d)
	}
	err := ix.settleAll(ctx, dirs)
	if err != nil { // what was not done is still to do
		ix.mu.Lock()
		for d := range taken {
			ix.trees[d] = true
		}
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
		// Folders where files were thought to be; sweeping them leaves no
		// more of the kind.
		if len(dirs) == 0 {
			return nil
		}
	}
}

// Snapshot returns the state known so far, without asking whether anything has
// changed since.
func (ix *Index) Snapshot() (*Snapshot, error) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if ix.closed {
		return nil, errClosed
	}
	if ix.snap == nil {
		ix.snap = ix.newSnapshot()
	}
	ix.snap.refs.Add(1)
	return &Snapshot{snapshot: ix.snap}, nil
}

// forgetSnapshot is called before every change of what it shows. ix.mu is held.
func (ix *Index) forgetSnapshot() {
	if ix.snap != nil {
		ix.snap.release()
		ix.snap = nil
	}
}

func (ix *Index) newSnapshot() *snapshot {
	s := &snapshot{ix: ix}
	s.refs.Store(1)
	for _, h := range ix.segs {
		h.seg.retain()
		h.shared = true
		s.views = append(s.views, &view{seg: h.seg, held: h, mask: h.mask})
	}
	for path, c := range ix.dirty {
		if c.member {
			s.dirty = append(s.dirty, dirtyDoc{path, c.hidden})
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

// snapshot is what several Snapshots share.
type snapshot struct {
	ix    *Index
	views []*view    // oldest first
	dirty []dirtyDoc // sorted
	refs  atomic.Int32
}

type view struct {
	seg    *segment
	held   *held
	mask   bitset // documents that don't count
	damage atomic.Pointer[error]
}

type dirtyDoc struct {
	path   string
	hidden bool
}

func (s *snapshot) release() {
	if s.refs.Add(-1) == 0 {
		for _, v := range s.views {
			v.seg.release()
		}
	}
}

// Lookup returns what the snapshot knows about a file.
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
				doc = Doc{path: []byte(path), Stamp: v.seg.docs.stamp(id), Flags: Flags(v.seg.docs.flags[id])}
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
	// Dirty files have no stamp and nothing is known of their content.
	Dirty bool
}

// Path returns the file's path below the root.
func (d *Doc) Path() string { return string(d.path) }

// PathBytes is Path without a copy: it is valid until the next document.
func (d *Doc) PathBytes() []byte { return d.path }

func (d dirtyDoc) doc() Doc {
	doc := Doc{path: []byte(d.path), Dirty: true}
	if d.hidden {
		doc.Flags = Hidden
	}
	return doc
}

// span is a range of documents of one segment.
type span struct{ lo, hi int }

// stream passes over the documents of one view, in order. It decodes a page of
// them at a time into memory of its own.
type stream struct {
	v     *view
	spans []span
	ids   []uint32 // of the candidates
	every bool     // visit all of spans; mayMatch tells candidates apart
	all   bool     // all are candidates

	reader pathReader
	buf    []byte
	page   []pageDoc
	pos    int
}

type pageDoc struct {
	start, end int
	id         int
	doc        Doc
	mayMatch   bool
}

const pageSize = 128

// head returns the next document, nil at the end.
func (s *stream) head() (*pageDoc, error) {
	if s.pos < len(s.page) {
		return &s.page[s.pos], nil
	}
	s.page, s.buf, s.pos = s.page[:0], s.buf[:0], 0
	if err := guard(s.fill); err != nil {
		s.v.damage.Store(&err)
		return nil, err
	}
	if len(s.page) == 0 {
		return nil, nil
	}
	for i := range s.page {
		p := &s.page[i]
		p.doc.path = s.buf[p.start:p.end]
	}
	return &s.page[0], nil
}

func (s *stream) fill() error {
	s.reader.t = &s.v.seg.docs
	for len(s.page) < pageSize && len(s.spans) > 0 {
		sp := &s.spans[0]
		if !s.every {
			for len(s.ids) > 0 && int(s.ids[0]) < sp.lo {
				s.ids = s.ids[1:]
			}
			if len(s.ids) == 0 {
				return nil
			}
			sp.lo = int(s.ids[0])
		}
		if sp.lo >= sp.hi {
			s.spans = s.spans[1:]
			continue
		}
		id := sp.lo
		sp.lo++
		if !s.v.mask.has(id) {
			s.add(id)
		}
	}
	return nil
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
	s.page = append(s.page, pageDoc{start, len(s.buf), id, Doc{Stamp: t.stamp(id), Flags: Flags(t.flags[id])}, may})
}

// merge passes over several streams and the dirty files in path order. Of equal
// paths the newest segment's comes first.
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
	var best *pageDoc
	m.from = nil
	for i := len(m.streams) - 1; i >= 0; i-- {
		s := m.streams[i]
		h, err := s.head()
		if err != nil {
			m.err = err
			return false
		}
		if h == nil {
			m.streams = slices.Delete(m.streams, i, i+1)
			continue
		}
		if best == nil || bytes.Compare(h.doc.path, best.doc.path) < 0 {
			best, m.from = h, s
		}
	}
	if len(m.dirty) > 0 && (best == nil || cmp.Compare(m.dirty[0].path, string(best.doc.path)) <= 0) {
		m.doc, m.from, m.mayMatch = m.dirty[0].doc(), nil, true
		m.ready = true
		return true
	}
	if best == nil {
		return false
	}
	m.doc, m.id, m.mayMatch = best.doc, best.id, best.mayMatch
	m.ready = true
	return true
}

// skip passes doc, which stays readable until the next peek.
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

// place tells where doc is.
func (m *merge) place() place { return place{m.from.v.held, m.id, string(m.doc.path)} }

// documents passes over all documents of some folders, without dirty ones.
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
