package watch

import (
	"slices"

	"quarry/internal/rootfs"
)

// maxTrees limits the trees kept between two barriers. Beyond it, the root is reported:
// sweeping a thousand scattered trees takes about as long as sweeping everything.
const maxTrees = 1024

// pending collects changed paths between barriers. Its memory is bounded: if there are
// too many names in a folder, the folder replaces them, and finally the root. A path is a
// string, "" for the root. Callers build it in scratch space, so adding a path again
// doesn't allocate.
type pending struct {
	max          int
	files        map[string]Op
	trees        map[string]struct{}
	lost, passed bool // see Changes
	// suspects are the tainted names. If their folder is moved, their paths change: a
	// removed name below a reported tree may be one of them.
	suspects []string
}

func (p *pending) init(maxFiles int) {
	p.max = maxFiles
	p.files = map[string]Op{}
	p.trees = map[string]struct{}{}
}

func (p *pending) empty() bool { return len(p.files) == 0 && len(p.trees) == 0 && !p.passed }

// Private bits of an Op: a rename gave the name to another file; the name was removed; it
// appeared after the last barrier; it was then written to. The last three are reset when
// the name appears or is removed.
const (
	over Op = 1 << (8 + iota)
	gone
	born
	tainted
	public Op = over - 1
)

// touched has the events caused by writing through an open handle.
const touched = Written | Closed | Changed

// file adds a path. inTree is set if a tree that contains it is reported, so that the
// path only serves to detect writes to other files. passed is set in two cases: a name
// that appeared and was written to after the last barrier was removed or given to another
// file, or a file was written to after its name was removed. ok is false if the limit is
// reached: then the caller adds the folder as a tree.
func (p *pending) file(path []byte, op Op, inTree bool) (passed, ok bool) {
	had, ok := p.files[string(path)]
	if !ok && (len(p.files) >= p.max || inTree && len(p.files) >= p.max/2) {
		return p.unlisted(op), false
	}
	ends := op&(over|Removed) != 0
	passed = ends && (had&tainted != 0 || !ok && inTree && len(p.suspects) > 0) || had&gone != 0 && op&touched != 0
	now := had | op
	switch {
	case op&Created != 0:
		now = now&^(tainted|gone) | born | op&tainted
	case op&Removed != 0:
		now = now&^(tainted|born) | gone
	case op&Written != 0 && had&born != 0:
		now |= tainted
	}
	if now != had || !ok {
		p.files[string(path)] = now
	}
	if now&tainted != 0 && had&tainted == 0 {
		p.suspects = append(p.suspects, string(path))
	}
	return passed, true
}

// unlisted returns passed, as file does, for a name that is not recorded. Any event
// except the name's appearance may concern another file.
func (p *pending) unlisted(op Op) (passed bool) { return op&(touched|over|Removed) != 0 }

// uncertain reports whether a lost event could have set passed.
func (p *pending) uncertain() bool {
	if len(p.suspects) > 0 {
		return true
	}
	for _, op := range p.files {
		if op&gone != 0 {
			return true
		}
	}
	return false
}

// tree adds a folder with all its contents.
func (p *pending) tree(path []byte) {
	if _, ok := p.trees[string(path)]; ok {
		return
	}
	if len(p.trees) >= maxTrees {
		p.all()
		return
	}
	p.trees[string(path)] = struct{}{}
}

// all adds the root.
func (p *pending) all() {
	clear(p.files)
	clear(p.trees)
	p.trees[""] = struct{}{}
}

// take returns and removes all changes. make converts strings to paths.
func (p *pending) take(make func(string) rootfs.Path) Changes {
	c := Changes{Lost: p.lost, Passed: p.passed}
	for s := range p.trees {
		c.Trees = append(c.Trees, make(s))
	}
	c.Trees = outermost(c.Trees)
	for s, op := range p.files {
		f := File{make(s), op & public}
		if p.covered(s) {
			c.inTrees = append(c.inTrees, f)
		} else {
			c.Files = append(c.Files, f)
		}
	}
	slices.SortFunc(c.Files, func(a, b File) int { return comparePaths(a.Path, b.Path) })
	p.lost, p.passed, p.suspects = false, false, nil
	if len(p.files)+len(p.trees) > 1024 { // a map never shrinks
		p.init(p.max)
	} else {
		clear(p.files)
		clear(p.trees)
	}
	return c
}

// covered reports whether s is inside one of the trees. A tree's own path isn't, because
// a folder may have been replaced by a file or vice versa.
func (p *pending) covered(s string) bool {
	if len(p.trees) == 0 {
		return false
	}
	for i := len(s) - 1; i >= 0; i-- {
		if i == 0 || s[i] == '/' {
			if _, ok := p.trees[s[:i]]; ok {
				return true
			}
		}
	}
	return false
}
