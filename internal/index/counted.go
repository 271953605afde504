package index

import (
	"sync"

	"quarry/internal/terms"
)

// Counted holds the term counts of a snapshot for a ranked search. The counts are valid for a
// file as long as it has the document's stamp.
type Counted struct {
	Views []*CountedView
	// Dirty lists the selected files that have changed, so that their terms are unknown.
	Dirty []string
}

// CountedView is the part of a Counted for one segment. Its documents are numbered in
// path order. It must be used by one goroutine.
type CountedView struct {
	v      *view
	snap   *snapshot
	in     span
	unseen bitset
}

// Counted returns the files below a folder that a client may see. Of a, it uses only
// Under, Lens and Hidden.
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

// guard calls a function that reads the segment. If the segment is damaged, it is
// dropped.
func (c *CountedView) guard(f func() error) error {
	err := guard(f)
	if err != nil {
		c.v.damage.Store(&err)
		c.snap.ix.dropDamaged(c.snap)
	}
	return err
}

// Documents returns the number of documents in the segment, selected or not.
func (c *CountedView) Documents() int { return c.v.seg.docs.n }

// Shows reports whether a document is selected: it is current, below the folder,
// and the client may see it.
func (c *CountedView) Shows(id int) bool {
	return id >= c.in.lo && id < c.in.hi && !c.v.mask.has(id) && !c.unseen.has(id)
}

// Parts returns the number of parts of a document. known is false if the document's terms
// are not indexed, so that the file has to be read.
func (c *CountedView) Parts(id int) (int, bool) {
	n := c.v.seg.docs.counted(id)
	return int(n), n != unknownParts
}

// Flags returns the flags of a document.
func (c *CountedView) Flags(id int) Flags { return c.v.seg.docs.flag(id) }

// Postings appends all documents with a term, even unselected ones, and its count in each,
// up to terms.MaxCount.
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

// Paths returns the paths of documents, whose ids must be ascending.
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

// Each calls yield for all documents of the segment, even unselected ones, until yield
// returns false. The path is only valid during the call.
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

// Remember returns the result of make, which is called once per segment. It caches a
// table about all documents until the segment is closed.
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
