package index

import (
	"sync"

	"quarry/internal/terms"
)

// Counted holds a snapshot's term counts, for a ranked search. The counts equal the counts in the file's text
// as long as the file has the document's stamp.
type Counted struct {
	Views []*CountedView
	// Dirty are the selected files that have changed, so their terms are unknown.
	Dirty []string
}

// CountedView is one segment's part of a Counted. Its documents are numbered in
// path order. One goroutine uses it.
type CountedView struct {
	v      *view
	snap   *snapshot
	in     span
	unseen bitset
}

// Counted returns the files below a folder that a client may see. It uses Under,
// Lens and Hidden of the Ask.
func (s *Snapshot) Counted(a Ask) (*Counted, error) {
	lens := a.lens()
	dir := plain(a.Under)
	out := &Counted{}
	for _, v := range s.views {
		cv := &CountedView{v: v, snap: s.snapshot}
		err := cv.guard(func() error {
			lo, hi := v.seg.docs.folder(dir)
			cv.in = span{lo, max(lo, hi)}
			cv.unseen = v.seg.unseen(lens)
			return nil
		})
		if err != nil {
			return nil, err
		}
		out.Views = append(out.Views, cv)
	}
	for _, d := range seenDirty(dirtyBelow(s.dirty, dir), lens) {
		out.Dirty = append(out.Dirty, d.path)
	}
	return out, nil
}

// guard runs a function that reads the segment. A damaged segment is dropped.
func (c *CountedView) guard(f func() error) error {
	err := guard(f)
	if err != nil {
		c.v.damage.Store(&err)
		c.snap.ix.dropDamaged(c.snap)
	}
	return err
}

// Documents is the number of documents of the segment, selected or not.
func (c *CountedView) Documents() int { return c.v.seg.docs.n }

// Shows reports whether a document is selected: it is current, below the folder,
// and the client may see it.
func (c *CountedView) Shows(id int) bool {
	return id >= c.in.lo && id < c.in.hi && !c.v.mask.has(id) && !c.unseen.has(id)
}

// Parts returns the number of parts of a document. known is false if its terms are not in
// the index and the file has to be read.
func (c *CountedView) Parts(id int) (int, bool) {
	n := c.v.seg.docs.counted(id)
	return int(n), n != unknownParts
}

// Flags returns the flags of a document.
func (c *CountedView) Flags(id int) Flags { return c.v.seg.docs.flag(id) }

// Postings appends the documents that have a term, selected or not, and how often each has
// it, up to terms.MaxCount.
func (c *CountedView) Postings(k terms.Key, ids []uint32, counts []uint8) ([]uint32, []uint8, error) {
	return c.postings(&c.v.seg.terms, k, ids, counts)
}

func (c *CountedView) postings(t *termTable, k terms.Key, ids []uint32, counts []uint8) ([]uint32, []uint8, error) {
	err := c.guard(func() error {
		if e := t.find(k); e.n > 0 {
			ids, counts = t.read(&e, ids, counts)
		}
		return c.v.seg.untouched()
	})
	return ids, counts, err
}

// Paths returns the paths of some documents, which are in order.
func (c *CountedView) Paths(ids []int) (paths []string, err error) {
	err = c.guard(func() error {
		r := pathReader{t: &c.v.seg.docs}
		for _, id := range ids {
			r.seek(id)
			paths = append(paths, string(r.next()))
		}
		return nil
	})
	return paths, err
}

// Each yields all documents of the segment, selected or not, until yield returns
// false. The path is valid until the next one.
func (c *CountedView) Each(yield func(id int, path []byte, flags Flags) bool) error {
	return c.guard(func() error {
		t := &c.v.seg.docs
		r := pathReader{t: t}
		for id := range t.n {
			r.seek(id)
			if !yield(id, r.next(), t.flag(id)) {
				break
			}
		}
		return nil
	})
}

// Remember returns the result of the first call of make for this segment. It
// keeps a table about all documents as long as the segment.
func (c *CountedView) Remember(make func() (any, error)) (any, error) {
	kept := &c.v.seg.remembered
	kept.mu.Lock()
	defer kept.mu.Unlock()
	if kept.value != nil {
		return kept.value, nil
	}
	v, err := make()
	if err == nil {
		kept.value = v
	}
	return v, err
}

type remembered struct {
	mu    sync.Mutex
	value any
}
