package index

import (
	"sync"

	"quarry/internal/terms"
)

// Counted is what a snapshot knows of the terms of files, for a ranked search.
// What it says of a file is what counting the file's text gives, as long as the
// file has the document's stamp.
type Counted struct {
	Views []*CountedView
	// Dirty are the files in question that changed: nothing is known of them.
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

// Counted returns the files that an asker sees below a folder. Of the Ask, Under,
// Lens and Hidden count.
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

// guard runs what reads the segment; one that is damaged is dropped.
func (c *CountedView) guard(f func() error) error {
	err := guard(f)
	if err != nil {
		c.v.damage.Store(&err)
		c.snap.ix.dropDamaged(c.snap)
	}
	return err
}

// Documents is how many the segment has; those in question are among them.
func (c *CountedView) Documents() int { return c.v.seg.docs.n }

// Shows reports whether a document is in question: it counts, lies below the
// folder, and the asker sees it.
func (c *CountedView) Shows(id int) bool {
	return id >= c.in.lo && id < c.in.hi && !c.v.mask.has(id) && !c.unseen.has(id)
}

// Parts is how many parts a document has. It is false if its terms are not in the
// index: the file has to be read.
func (c *CountedView) Parts(id int) (int, bool) {
	n := c.v.seg.docs.counted(id)
	return int(n), n != unknownParts
}

// Flags are those of a document.
func (c *CountedView) Flags(id int) Flags { return c.v.seg.docs.flag(id) }

// Postings appends the documents that have a term, in question or not, and how
// often each does, at most terms.MaxCount times.
func (c *CountedView) Postings(k terms.Key, ids []uint32, counts []uint8) ([]uint32, []uint8, error) {
	err := c.guard(func() error {
		t := &c.v.seg.terms
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

// Each passes all documents of the segment, in question or not, until yield
// returns false. The path is valid until the next one.
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

// Remember returns what make gave the first time it was asked for this segment: a
// table of all its documents that is worth keeping as long as the segment.
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
