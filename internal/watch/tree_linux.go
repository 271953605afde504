//go:build linux && !portable

package watch

import (
	"context"
	"errors"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"quarry/fault"
	"quarry/internal/policy"
	"quarry/internal/rootfs"
)

// node is a watched folder, or the top of a tree that can't be watched.
type node struct {
	parent *node // nil for the top, and for a node outside the tree
	name   string
	kids   map[string]*node
	dev    uint64
	wd     int32
	marked bool // reported as a tree, so events below need no report
	system systemKind
}

const noWatch = -1

// place is the location of a node. The zero value is the place of the top.
type place struct {
	parent *node
	name   string
}

// task is a place to compare with the disk.
type task struct {
	place
	deep bool // and everything below it
	// again is set if the place's folder was found at another place. Usually it was
	// moved, and this place is empty.
	again bool
}

// append writes the path of n: with a slash at the end unless it is the top.
func (n *node) append(buf []byte) []byte {
	if n.parent == nil {
		return buf
	}
	buf = append(n.parent.append(buf), n.name...)
	return append(buf, '/')
}

func (w *Watcher) pathOf(at place) rootfs.Path {
	if at.parent == nil {
		return rootfs.Path{}
	}
	s := &w.system
	s.path = append(at.parent.append(s.path[:0]), at.name...)
	return w.path(string(s.path))
}

func (s *system) attached(n *node) bool {
	for n.parent != nil {
		n = n.parent
	}
	return n == s.top
}

// reported reports whether the next barrier reports a tree that contains n. It also
// returns true if n is outside the tree, because n is reported when it comes back.
func (s *system) reported(n *node) bool {
	for ; n.parent != nil; n = n.parent {
		if n.marked {
			return true
		}
	}
	return n != s.top || n.marked
}

// mark reports n as a tree.
func (w *Watcher) mark(n *node) {
	s := &w.system
	if s.reported(n) {
		return
	}
	s.path = n.append(s.path[:0])
	if n.system != ordinary {
		s.path = append(s.path, n.system.file()...)
		w.add(n.parent, Created|Removed)
		return
	}
	n.marked = true
	s.marks = append(s.marks, n)
	w.pending.tree(s.path[:max(0, len(s.path)-1)])
}

// unmark removes the marks after they were reported.
func (w *Watcher) unmark() {
	s := &w.system
	for _, n := range s.marks {
		n.marked = false
	}
	clear(s.marks)
	s.marks = s.marks[:0]
}

func (s *system) later(at place, deep bool) { s.check[at] = s.check[at] || deep }

// rescan compares everything below dir with the disk.
func (w *Watcher) rescan(dir rootfs.Path) {
	s := &w.system
	if s.file == nil {
		return
	}
	at := place{}
	if !dir.IsRoot() {
		n := s.top
		for name := range strings.SplitSeq(dir.String(), "/") {
			if n == nil {
				break // its parent isn't known either; look there
			}
			at = place{n, name}
			n = n.kids[name]
		}
	}
	s.later(at, true)
}

// restarted compares everything. Watches of deleted folders have ended.
func (w *Watcher) restarted(ctx context.Context) error {
	w.rescan(rootfs.Path{})
	return w.settle(ctx)
}

// settle compares places with the disk until none is left.
//
// Events only tell which places to compare, so their order doesn't matter. A folder is
// recognized by its watch descriptor wherever it appears. A folder at a new place is
// watched and then listed with everything below it, so later changes cause new events.
func (w *Watcher) settle(ctx context.Context) error {
	s := &w.system
	for round := 0; ; round++ {
		if round%64 == 63 && ctx.Err() != nil {
			return ctx.Err() // the rest waits for the next call
		}
		if n := len(s.stack); n > 0 {
			t := s.stack[n-1]
			s.stack = s.stack[:n-1]
			w.verify(t)
			continue
		}
		if len(s.check) > 0 {
			for at, deep := range s.check {
				s.stack = append(s.stack, task{place: at, deep: deep})
			}
			clear(s.check)
		} else if len(s.limbo) == 0 {
			return nil
		} else {
			w.release()
		}
	}
}

// release removes the watches of folders that have left the tree, and watches other
// folders that were beyond the limit.
//
// If only the first event of a folder's rename was in the queue, the folder is watched again
// at its new place. Events in between are lost. This matters for files that may have several
// names.
func (w *Watcher) release() {
	s := &w.system
	freed, before := 0, len(s.wds)
	for n := range s.limbo {
		freed += w.drop(n)
	}
	if len(s.wds) < before && w.pending.uncertain() {
		w.pending.passed = true
	}
	clear(s.limbo)
	for n, why := range s.aside {
		if freed == 0 {
			break
		}
		if why == ErrLimit && n != s.top {
			s.later(place{n.parent, n.name}, true)
			freed--
		}
	}
}

// admit reports whether a folder at a place should be watched, according to its path.
func (w *Watcher) admit(at place) bool {
	if at.parent == nil {
		return true
	}
	if kind, ok := systemFolder(at); ok {
		return kind != ordinary
	}
	dir := w.pathOf(place{at.parent.parent, at.parent.name})
	if w.root.Policy().Entry(dir.String(), at.name, true) != policy.Allowed {
		return false
	}
	return w.opts.Admit == nil || w.opts.Admit(dir, at.name)
}

// verify updates the tree at one place.
func (w *Watcher) verify(t task) {
	s := &w.system
	if t.parent != nil && !s.attached(t.parent) {
		return // its parent is listed when it comes back
	}
	if kind, _ := systemFolder(t.place); kind == ordinary {
		w.passed()
	}
	if !w.admit(t.place) {
		w.detach(s.at(t.place))
		return
	}
	d, err := w.open(t.place)
	if err != nil {
		w.absent(t.place, err)
		return
	}
	defer d.Close()
	info, err := d.Info()
	if err != nil {
		w.addUnwatched(t.place, err)
		return
	}
	if (t.parent == nil || info.Dev != t.parent.dev) && d.FSKind() != rootfs.FSLocal {
		w.addUnwatched(t.place, ErrForeign)
		return
	}
	_, blind := s.aside[s.at(t.place)]
	n, fresh, err := w.watch(t, d)
	if err != nil {
		w.addUnwatched(t.place, err)
		return
	}
	n.dev = info.Dev
	if s.opening && n.system == ordinary {
		s.newest = n
	}
	if fresh || blind {
		w.mark(n)
	}
	if fresh || blind || t.deep {
		w.list(n, d)
	}
}

func (s *system) at(p place) *node {
	if p.parent == nil {
		return s.top
	}
	return p.parent.kids[p.name]
}

// open opens the folder at a place. It does not follow a symlink there.
func (w *Watcher) open(at place) (*rootfs.Dir, error) {
	if kind, ok := systemFolder(at); ok {
		return w.openSystem(at, kind)
	}
	p := w.pathOf(at)
	d, err := w.root.OpenDir(p)
	if err == nil && d.Path() != p {
		d.Close()
		return nil, &fault.PathError{Op: "watch", Path: p.String(), Kind: fault.NotFolder}
	}
	return d, err
}

// absent handles a folder that can't be opened. If it doesn't exist or is unreadable, an
// event will report when that changes. After other errors, for example without free
// handles, the folder exists and its changes are not noticed.
func (w *Watcher) absent(at place, err error) {
	if rootfs.KindOf(err) == fault.IOError || at.parent == nil {
		w.addUnwatched(at, err)
		return
	}
	w.detach(w.system.at(at))
}

// watch watches an open folder and puts its node at the task's place. fresh is set if the
// node is new.
func (w *Watcher) watch(t task, d *rootfs.Dir) (n *node, fresh bool, err error) {
	s := &w.system
	kind, _ := systemFolder(t.place)
	wd, err := d.AddWatch(s.fd, kind.mask())
	if errors.Is(err, unix.ENOSPC) {
		return nil, false, ErrLimit
	}
	if err != nil {
		return nil, false, err
	}
	n, old := s.wds[wd], s.at(t.place)
	switch {
	case n == nil && w.full():
		unix.InotifyRmWatch(s.fd, uint32(wd))
		return nil, false, ErrLimit
	case t.parent == nil: // the top keeps its node
		if n != nil && n != old {
			return nil, false, ErrTwice
		}
		if fresh = n == nil; fresh {
			w.unwatchNode(old)
			old.wd, s.wds[wd] = wd, old
		}
		w.cover(old)
		return old, fresh, nil
	case n == nil:
		n = &node{wd: wd}
		s.wds[wd] = n
	case n == old:
		w.cover(n)
		return n, false, nil
	case contains(n, t.parent), t.again && s.attached(n):
		return nil, false, ErrTwice
	case s.attached(n):
		s.stack = append(s.stack, task{place: place{n.parent, n.name}, again: true})
	}
	w.detach(n)
	w.attach(n, t.place)
	n.system = kind
	w.cover(n)
	return n, true, nil
}

func (w *Watcher) full() bool {
	s := &w.system
	return w.opts.MaxWatches > 0 && len(s.wds) >= w.opts.MaxWatches
}

// contains reports whether m is n or inside it.
func contains(n, m *node) bool {
	for ; m != nil; m = m.parent {
		if m == n {
			return true
		}
	}
	return false
}

// attach puts a node that is outside the tree at a place, and removes the node that was
// there.
func (w *Watcher) attach(n *node, at place) {
	s := &w.system
	if old := at.parent.kids[at.name]; old != nil {
		w.detach(old)
	}
	delete(s.limbo, n)
	n.parent, n.name, n.marked = at.parent, at.name, false
	if at.parent.kids == nil {
		at.parent.kids = map[string]*node{}
	}
	at.parent.kids[at.name] = n
	s.roots = nil
}

// detach removes a node from the tree. Its watches remain until the queue was read,
// because a moved folder causes two events and may reappear.
func (w *Watcher) detach(n *node) {
	s := &w.system
	if n == nil || n.parent == nil {
		return
	}
	w.mark(n)
	delete(n.parent.kids, n.name)
	n.parent = nil
	s.limbo[n] = struct{}{}
	s.roots = nil
}

// drop removes the watches of a detached node and of all nodes below it, and returns
// their number.
func (w *Watcher) drop(n *node) int {
	count := 1
	for _, kid := range n.kids {
		count += w.drop(kid)
	}
	w.unwatchNode(n)
	w.cover(n)
	return count
}

func (w *Watcher) unwatchNode(n *node) {
	s := &w.system
	if n.wd == noWatch {
		return
	}
	delete(s.wds, n.wd)
	unix.InotifyRmWatch(s.fd, uint32(n.wd)) // fails if the kernel has already removed it
	n.wd = noWatch
}

// list compares the contents of n with the disk. n is already watched, so later changes
// cause events.
func (w *Watcher) list(n *node, d *rootfs.Dir) {
	s := &w.system
	if n.system != ordinary {
		if n.system == gitFolder {
			s.stack = append(s.stack, task{place: place{n, "info"}, deep: true})
		}
		return
	}
	var err error
	s.entries, err = d.Read(s.entries[:0])
	if err != nil {
		w.setAside(n, err) // there may be subfolders that were not listed
	} else if w.opts.Listed != nil {
		w.opts.Listed(d, s.entries)
	}
	if s.opening {
		inOrder(s.entries)
	}
	first := len(s.stack)
	for i := range s.entries {
		e := &s.entries[i]
		if e.Type != rootfs.TypeDir {
			continue
		}
		if e.Name[0] == '.' {
			s.path = n.append(s.path[:0])
			w.noteProtected(s.path, e.Name)
		}
		name := e.Name
		if kid := n.kids[name]; kid != nil {
			name = kid.name
		} else {
			name = strings.Clone(name) // the listing's names share memory
		}
		s.stack = append(s.stack, task{place: place{n, name}, deep: true})
	}
	if len(n.kids) == 0 {
		return
	}
	seen := make(map[string]bool, len(s.stack)-first)
	for _, t := range s.stack[first:] {
		seen[t.name] = true
	}
	for name, kid := range n.kids {
		if !seen[name] {
			w.detach(kid)
		}
	}
}

// inOrder sorts entries so that a stack returns them in path order, after .git, whose
// info/exclude applies to the folder.
func inOrder(entries []rootfs.Entry) {
	slices.SortFunc(entries, func(a, b rootfs.Entry) int {
		if x, y := a.Name == ".git", b.Name == ".git"; x != y {
			if x {
				return 1
			}
			return -1
		}
		return comparePathNames(b.Name, a.Name)
	})
}

// comparePathNames orders names of folders like the paths of their entries.
func comparePathNames(a, b string) int {
	n := min(len(a), len(b))
	if c := strings.Compare(a[:n], b[:n]); c != 0 {
		return c
	}
	return strings.Compare(a[n:]+"/", b[n:]+"/")
}

// addUnwatched puts an unwatched node at a place. The caller of Barrier must sweep it.
func (w *Watcher) addUnwatched(at place, why error) {
	s := &w.system
	n := s.at(at)
	if at.parent == nil {
		for _, kid := range n.kids {
			w.detach(kid)
		}
		w.unwatchNode(n)
		w.setAside(n, why)
		return
	}
	if n == nil || n.wd != noWatch || len(n.kids) > 0 {
		n = &node{wd: noWatch}
		n.system, _ = systemFolder(at)
		w.attach(n, at)
		w.mark(n)
	}
	w.setAside(n, why)
}

func (w *Watcher) setAside(n *node, why error) {
	w.system.aside[n] = why
	w.system.roots = nil
}

// cover is the reverse of setAside.
func (w *Watcher) cover(n *node) {
	s := &w.system
	if _, ok := s.aside[n]; ok {
		delete(s.aside, n)
		s.roots = nil
	}
}

// unwatched returns the trees that must be swept.
func (w *Watcher) unwatched() []rootfs.Path {
	s := &w.system
	if len(s.aside) == 0 {
		return nil
	}
	if s.roots == nil {
		for n := range s.aside {
			if s.attached(n) {
				s.roots = append(s.roots, w.pathOf(place{n.parent, n.name}))
			}
		}
		s.roots = outermost(s.roots)
	}
	return s.roots
}
