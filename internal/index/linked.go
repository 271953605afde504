package index

// inodes are files with several names. A write through one name causes no event for the
// others, and a name may be added after the file was indexed.
type inodes map[uint64]bool

// markLinked makes files dirty that were found to have several names. When they are read
// again, they get the flag Linked, and every Fresh compares their stamps. ix.mu must be
// held.
func (ix *Index) markLinked(linked inodes) {
	if len(linked) == 0 {
		return
	}
	type named struct {
		path string
		as   Flags
	}
	var found []named
	for _, h := range ix.segs {
		err := guard(func() error {
			t := &h.seg.docs
			reader := pathReader{t: t}
			for id := range t.n {
				f := t.flag(id)
				if f&Linked == 0 && !h.dead.has(id) && linked[t.stamp(id).Ino] {
					reader.seek(id)
					found = append(found, named{string(reader.next()), f & listed})
				}
			}
			return nil
		})
		if err != nil {
			ix.damage(h, err)
			return // the next Fresh sweeps and calls this again
		}
	}
	for _, n := range found {
		if ix.dirty[n.path] == nil {
			ix.markListed(n.path, n.as)
		}
	}
}

// keepComparing permanently sets the flag Linked for files that changed without an event:
// a program writes to them through a handle whose name was deleted, and may continue to
// do so. If a Linked file changed just before it was read, it may have changed again with
// the same stamp, so it is always searched until it has been read once more. ix.mu must
// be held.
func (ix *Index) keepComparing(outcomes []outcome) {
	for i := range outcomes {
		o := &outcomes[i]
		if o.state == indexed && ix.eventless[o.stamp.Ino] {
			o.flags |= Linked
		}
		if o.flags&(Linked|racyFlag) == Linked|racyFlag {
			o.flags |= AlwaysScan
		}
	}
}
