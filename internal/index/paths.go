package index

import (
	"context"
	"errors"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"quarry/internal/rootfs"
)

// pathStretch is how many paths a goroutine takes at a time: much less than a
// millisecond of work.
const pathStretch = 16 << 10

// Paths lists the files of a folder that a lens shows and whose path passes a
// test, in path order; nil is the lens of Ask, without hidden files. It is for
// queries about names only, and takes half the time of Candidates.Files on two
// processors. test is called once for each goroutine and returns the test for its
// paths, which are valid during the call.
func (s *Snapshot) Paths(ctx context.Context, under rootfs.Path, lens *Lens, test func() func(path []byte) bool) ([]string, error) {
	dir := plain(under)
	if lens == nil {
		lens = plainLens(false)
	}
	var lists [][]string
	for _, v := range s.views {
		list, err := s.pathsOf(ctx, v, dir, lens, test)
		if err != nil {
			if errors.Is(err, ErrDamaged) {
				v.damage.Store(&err)
				s.ix.dropDamaged(s.snapshot)
			}
			return nil, err
		}
		lists = append(lists, list)
	}
	var dirty []string
	passes := test()
	for _, d := range seenDirty(dirtyBelow(s.dirty, dir), lens) {
		if passes([]byte(d.path)) {
			dirty = append(dirty, d.path)
		}
	}
	return mergeSorted(append(lists, dirty)), nil
}

// pathsOf lists those of one segment.
func (s *Snapshot) pathsOf(ctx context.Context, v *view, dir string, lens *Lens, test func() func(path []byte) bool) ([]string, error) {
	var in span
	var unseen bitset
	err := guard(func() error {
		in.lo, in.hi = v.seg.docs.folder(dir)
		unseen = v.seg.unseen(lens)
		return nil
	})
	if err != nil {
		return nil, err
	}
	parts := make([][]string, (in.hi-in.lo+pathStretch-1)/pathStretch)
	errs := make([]error, max(1, min(s.ix.opts.Workers, len(parts))))
	var next atomic.Int64
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			p := pathLister{view: v, unseen: unseen, passes: test(), reader: pathReader{t: &v.seg.docs}}
			errs[i] = guard(func() error {
				for {
					n := int(next.Add(1)) - 1
					if n >= len(parts) {
						return nil
					}
					if err := ctx.Err(); err != nil {
						return err
					}
					lo := in.lo + n*pathStretch
					parts[n] = p.list(lo, min(lo+pathStretch, in.hi))
				}
			})
		})
	}
	wg.Wait()
	return slices.Concat(parts...), errors.Join(errs...)
}

type pathLister struct {
	view   *view
	unseen bitset
	passes func(path []byte) bool
	reader pathReader
}

// list gives the paths of documents [lo, hi) that pass.
func (p *pathLister) list(lo, hi int) []string {
	var found []string
	p.reader.seek(lo)
	for id := lo; id < hi; id++ {
		path := p.reader.next()
		if p.view.mask.has(id) || p.unseen.has(id) {
			continue
		}
		if p.passes(path) {
			found = append(found, string(path))
		}
	}
	return found
}

// mergeSorted joins sorted lists. Usually one has nearly all.
func mergeSorted(lists [][]string) []string {
	var all []string
	for _, l := range lists {
		if len(l) == 0 {
			continue
		}
		if len(all) == 0 {
			all = l
			continue
		}
		all = append(all, l...)
	}
	if !sort.StringsAreSorted(all) {
		slices.Sort(all) // finds the runs by itself
	}
	return all
}
