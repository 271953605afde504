package index

import "slices"

// The index includes ignored files as long as there are few. A search for them then needs
// no walk, and neither does an empty answer's hint about them. If there are too many, all
// of them are removed, and a search for ignored files scans.

// Ignored reports whether the index includes files excluded by ignore rules: not before
// the first sweep, and not if there are more than Options.MaxIgnored.
func (ix *Index) Ignored() bool {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	return ix.ignored
}

// DropIgnored permanently removes the ignored files from the index. It is needed if the
// Source can't report changes to them.
func (ix *Index) DropIgnored() {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if ix.maxIgnored > 0 {
		ix.maxIgnored = 0
		ix.removeIgnored()
	}
}

// TakeIgnored adds the ignored files again if they were too many and no longer are; it
// reports whether it did. It calls tell to make the Source report changes to them. The
// next Fresh sweeps.
func (ix *Index) TakeIgnored(tell func() error) (bool, error) {
	ix.mu.Lock()
	take := ix.few && ix.tooMany
	ix.mu.Unlock()
	if !take {
		return false, nil
	}
	if err := tell(); err != nil {
		return false, err
	}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.tooMany, ix.few = false, false
	ix.trees[""] = true
	return true, nil
}

// WantsIgnored reports whether a Source must report changes to ignored files. This is the
// case if they are in the index, or if this hasn't been decided yet by the first sweep.
func (ix *Index) WantsIgnored() bool {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	return ix.ignored || ix.maxIgnored > 0 && !ix.swept && !ix.tooMany
}

// ignoredAs returns the flags of an ignored file. It has the flag Hidden if its path is
// hidden, because a search for ignored files reads no rules.
func ignoredAs(path string) Flags {
	if isDotted(path) {
		return Ignored | Hidden
	}
	return Ignored
}

// ignoredLimit limits the ignored files that a sweep may list. Files that were removed are
// only added when there are clearly fewer, so that the index doesn't read them again and
// again.
func (ix *Index) ignoredLimit(whole bool) int {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	switch {
	case ix.ignored || whole && !ix.tooMany:
		return ix.maxIgnored
	case whole:
		return ix.maxIgnored / 4 * 3
	}
	return 0
}

// limitIgnored removes the ignored files if there are too many. ix.mu must be held.
func (ix *Index) limitIgnored() {
	if ix.ignored && ix.countIgnored() > ix.maxIgnored {
		ix.tooMany = true
		ix.removeIgnored()
	}
}

// countIgnored returns the number of ignored files. ix.mu must be held.
func (ix *Index) countIgnored() (n int) {
	for _, h := range ix.segs {
		for _, id := range h.seg.ignored {
			if !h.mask.has(int(id)) {
				n++
			}
		}
	}
	for _, c := range ix.dirty {
		if c.member && c.as&Ignored != 0 {
			n++
		}
	}
	return n
}

// removeIgnored removes the ignored files from the index. ix.mu must be held.
func (ix *Index) removeIgnored() {
	ix.ignored = false
	for path, c := range ix.dirty {
		switch {
		case !c.member || c.as&Ignored == 0:
		case c.pending: // its type may have changed
			if c.in != nil {
				c.in.kill(c.id)
			}
			c.in, c.member = nil, false
		default:
			ix.settle(path, c)
		}
	}
	for _, h := range ix.segs {
		for _, id := range h.seg.ignored {
			if h.dead.has(int(id)) || h.mask.has(int(id)) {
				continue // keep a dirty file that is no longer ignored
			}
			h.kill(int(id))
		}
	}
	ix.forgetSnapshot()
}

// flood is called if a sweep has found too many ignored files. It removes those listed so
// far, including files that have only now become ignored. ix.mu must be held.
func (s *sweeping) flood() {
	ix := s.ix
	ix.tooMany = true
	ix.removeIgnored()
	for path := range s.ignored {
		if c := ix.dirty[path]; c != nil {
			ix.settle(path, c)
		}
	}
	for _, f := range s.stale {
		if f.ignored {
			ix.settle(f.path, ix.mark(f.path))
		}
	}
	isIgnored := func(f found) bool { return f.ignored }
	s.added, s.stale = slices.DeleteFunc(s.added, isIgnored), slices.DeleteFunc(s.stale, isIgnored)
	clear(s.ignored)
}

// keepIgnored decides whether the index includes the ignored files, after a sweep that
// found few of them. ix.mu must be held.
func (s *sweeping) keepIgnored() {
	ix := s.ix
	switch {
	case ix.maxIgnored == 0: // changed during the sweep
		ix.removeIgnored()
	case s.dirs[0] == "":
		if !ix.ignored {
			ix.forgetSnapshot()
		}
		ix.ignored = true
	default:
		ix.limitIgnored()
	}
}

// listing is what a sweep knows about a file that a walk has listed.
type listing struct {
	stamp   Stamp
	ignored bool
}

// found is a listed file that is new or has changed.
type found struct {
	path    string
	ignored bool
}

// as returns the flags with which a file is listed.
func (s *sweeping) as(path string, ignored bool, shown map[string]bool) Flags {
	switch {
	case ignored:
		return ignoredAs(path)
	case isDotted(path) && !shown[path]:
		return Hidden
	}
	return 0
}

// rejudge marks the changed files whose rules have changed since they were marked. Files
// that weren't listed are handled later. ix.mu must be held.
func (s *sweeping) rejudge(shown map[string]bool) {
	ix := s.ix
	for path, c := range ix.dirty {
		if c.member && c.as&Ignored != 0 != s.ignored[path] && s.covers(path) {
			ix.markListed(path, s.as(path, s.ignored[path], shown))
		}
	}
}
