//go:build linux && !portable

package watch

import (
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"quarry/internal/rootfs"
)

// watchInode watches a file by inode. All names of it below the root share one
// watch.
func (w *Watcher) watchInode(p rootfs.Path) bool {
	s := &w.system
	if s.file == nil || p.IsRoot() {
		return false
	}
	n := s.top
	if dir := p.Dir(); !dir.IsRoot() {
		for name := range strings.SplitSeq(dir.String(), "/") {
			if n = n.kids[name]; n == nil {
				return false
			}
		}
	}
	if n.wd == noWatch {
		return false
	}
	f, err := w.root.OpenFile(p)
	if err != nil {
		return false
	}
	defer f.Close()
	wd, err := f.AddWatch(s.fd, fileMask)
	if err != nil {
		return false
	}
	names, known := s.files[wd]
	if !known && w.full() {
		unix.InotifyRmWatch(s.fd, uint32(wd))
		return false
	}
	at := place{n, p.Base()}
	if had, ok := n.inodes[at.name]; ok && had == wd {
		return true
	} else if ok {
		w.forgetInode(at)
	}
	if n.inodes == nil {
		n.inodes = map[string]int32{}
	}
	n.inodes[at.name] = wd
	s.files[wd] = append(names, at)
	return true
}

// forgetInode ends the watch on a file whose name went or is another file now.
func (w *Watcher) forgetInode(at place) {
	s := &w.system
	wd, ok := at.parent.inodes[at.name]
	if !ok {
		return
	}
	delete(at.parent.inodes, at.name)
	names := slices.DeleteFunc(s.files[wd], func(p place) bool { return p == at })
	if len(names) > 0 {
		s.files[wd] = names
		return
	}
	delete(s.files, wd)
	unix.InotifyRmWatch(s.fd, uint32(wd))
}

// fileEvent is an event of a file's own watch; it reports all its names.
func (w *Watcher) fileEvent(wd int32, mask uint32) {
	s := &w.system
	for _, at := range s.files[wd] {
		if !s.reported(at.parent) {
			s.path = append(at.parent.append(s.path[:0]), at.name...)
			w.add(at.parent, opOf(mask)|Changed)
		}
		if mask&unix.IN_IGNORED != 0 {
			delete(at.parent.inodes, at.name)
		}
	}
	if mask&unix.IN_IGNORED != 0 {
		delete(s.files, wd)
	}
}
