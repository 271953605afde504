package index

import "slices"

// Ignored files are in the index as long as there are few. Then a search for them
// needs no walk, and neither does the hint about them in an empty answer. If
// there are too many, all of them are removed, and such a search scans.

// Ignored reports whether the index has the files that ignore rules exclude. It
// has none before the first sweep, and none if there are more than
// Options.MaxIgnored.
func (ix *Index) Ignored() bool {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	return ix.ignored
}

// DropIgnored removes the ignored files from the index permanently. It is for a
// Source that can't report changes to them.
func (ix *Index) DropIgnored() {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if ix.maxIgnored > 0 {
		ix.maxIgnored = 0
		ix.leaveIgnored()
	}
}

// TakeIgnored adds the ignored files again if there were too many and no longer are. It
// reports whether it does. tell makes the Source report changes to them; the next Fresh
// sweeps.
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

// WantsIgnored reports whether a Source has to report changes to ignored files:
// they are in the index, or the first sweep has not decided yet.
func (ix *Index) WantsIgnored() bool {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	return ix.ignored || ix.maxIgnored > 0 && !ix.swept && !ix.tooMany
}

// ignoredAs are the flags of an ignored file. It is shown only with hidden files:
// a search for ignored files reads no rules.
func ignoredAs(path string) Flags {
	if isDotted(path) {
		return Ignored | Hidden
	}
	return Ignored
}

// ignoredLimit bounds the ignored files that a sweep may list. They are added again only when
// there are clearly fewer, so that the index doesn't read them again and again.
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

// boundIgnored removes the ignored files if there are too many. ix.mu is held.
func (ix *Index) boundIgnored() {
	if ix.ignored && ix.countIgnored() > ix.maxIgnored {
		ix.tooMany = true
		ix.leaveIgnored()
	}
}

// countIgnored counts them. ix.mu is held.
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

// leaveIgnored removes the ignored files from the index. ix.mu is held.
func (ix *Index) leaveIgnored() {
	ix.ignored = false
	for path, c := range ix.dirty {
		switch {
		case !c.member || c.as&Ignored == 0:
		case c.pending: // it may be another kind of file by now
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
				continue // a dirty file that is no longer ignored stays
			}
			h.kill(int(id))
		}
	}
	ix.forgetSnapshot()
}

// flood is called by a sweep that found too many ignored files. It removes the listed ones,
// including files that the rules exclude only since now. ix.mu is held.
func (s *sweeping) flood() {
	ix := s.ix
	ix.tooMany = true
	ix.leaveIgnored()
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

// keepIgnored decides, after a sweep that found few ignored files, whether they
// are in the index. ix.mu is held.
func (s *sweeping) keepIgnored() {
	ix := s.ix
	switch {
	case ix.maxIgnored == 0: // meanwhile
		ix.leaveIgnored()
	case s.dirs[0] == "":
		if !ix.ignored {
			ix.forgetSnapshot()
		}
		ix.ignored = true
	default:
		ix.boundIgnored()
	}
}

// listing is a sweep's record of a file that a walk has listed.
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

// rejudge marks the changed files whose rules have changed since they were
// marked. Those that weren't listed at all are dealt with later. ix.mu is held.
func (s *sweeping) rejudge(shown map[string]bool) {
	ix := s.ix
	for path, c := range ix.dirty {
		if c.member && c.as&Ignored != 0 != s.ignored[path] && s.covers(path) {
			ix.markListed(path, s.as(path, s.ignored[path], shown))
		}
	}
}
