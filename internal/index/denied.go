package index

import (
	"cmp"
	"slices"

	"quarry/internal/rootfs"
)

// deniedEntry is a file or folder that a lens hides because of its policy. Its path is a
// prefix of the paths of documents first to last.
type deniedEntry struct {
	path        string
	folder      bool
	first, last int
}

// deny records a hidden document. Documents must be passed in path order, so that those of a
// folder are consecutive.
func (s *sight) deny(l *Lens, path string, flags Flags, id int) {
	if l.Denied == nil {
		return
	}
	n := l.Denied(path, flags)
	if n == 0 {
		return
	}
	folder := n < len(path)
	if last := len(s.denied) - 1; folder && last >= 0 && s.denied[last].folder && s.denied[last].path == path[:n] {
		s.denied[last].last = id
		return
	}
	s.denied = append(s.denied, deniedEntry{path[:n], folder, id, id})
}

// Denied counts the entries below a folder that are hidden only by the policy and that pass a
// test. A denied folder counts as one entry, whatever it contains.
func (s *Snapshot) Denied(under rootfs.Path, lens *Lens, passes func(path string, folder bool) bool) (n int, err error) {
	if lens == nil || lens.Denied == nil {
		return 0, nil
	}
	dir := plain(under)
	var all []deniedEntry
	for _, v := range s.views {
		var lo, hi int
		var at *sight
		err := guard(func() error {
			lo, hi = v.seg.docs.folder(dir)
			at = v.seg.sight(lens)
			return nil
		})
		if err != nil {
			v.damage.Store(&err)
			s.ix.dropDamaged(s.snapshot)
			return 0, err
		}
		for _, e := range at.denied {
			if e.first >= lo && e.last < hi && v.someLeft(e.first, e.last) {
				all = append(all, e)
			}
		}
	}
	for _, d := range dirtyBelow(s.dirty, dir) {
		flags := d.flags()
		if lens.Sees(d.path, flags) {
			continue
		}
		if n := lens.Denied(d.path, flags); n > 0 {
			all = append(all, deniedEntry{path: d.path[:n], folder: n < len(d.path)})
		}
	}
	slices.SortFunc(all, func(a, b deniedEntry) int { return cmp.Compare(a.path, b.path) })
	all = slices.CompactFunc(all, func(a, b deniedEntry) bool { return a.path == b.path })
	for _, e := range all {
		if passes(e.path, e.folder) && (!e.folder || lens.Enters(e.path)) {
			n++
		}
	}
	return n, nil
}

// someLeft reports whether any document from first to last is current.
func (v *view) someLeft(first, last int) bool {
	for id := first; id <= last; id++ {
		if !v.mask.has(id) {
			return true
		}
	}
	return false
}
