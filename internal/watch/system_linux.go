//go:build linux && !portable

package watch

import (
	"golang.org/x/sys/unix"

	"quarry/internal/rootfs"
)

// systemKind tells whether a folder is .git or .git/info. The policy protects both, but
// info/exclude determines which files are searched. They are watched only for this file;
// their other entries are never reported.
type systemKind uint8

const (
	ordinary systemKind = iota
	gitFolder
	gitInfo
)

// file returns the path of info/exclude relative to the folder.
func (k systemKind) file() string {
	return [...]string{"", "info/exclude", "exclude"}[k]
}

// mask requests only events on names for .git: git writes there all the time.
func (k systemKind) mask() uint32 {
	if k == gitFolder {
		return unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO
	}
	return dirMask
}

// systemFolder returns the kind of a place, and whether it is .git or inside it. Entries of
// .git other than info are ordinary and not watched. A root without policy is treated in
// the same way, because a repository's rules apply there too.
func systemFolder(at place) (systemKind, bool) {
	if at.parent == nil {
		return ordinary, false
	}
	switch at.parent.system {
	case gitFolder:
		if at.name == "info" {
			return gitInfo, true
		}
		return ordinary, true
	case gitInfo:
		return ordinary, true
	}
	if at.name == ".git" {
		return gitFolder, true
	}
	return ordinary, false
}

func (w *Watcher) openSystem(at place, kind systemKind) (*rootfs.Dir, error) {
	in, rel := at.parent, at.name
	if kind == gitInfo {
		in, rel = in.parent, ".git/info"
	}
	p := w.pathOf(place{in.parent, in.name})
	return w.root.OpenSystem(p, rel)
}

// systemEvent handles events on info/exclude.
func (w *Watcher) systemEvent(n *node, mask uint32, name []byte) {
	s := &w.system
	if n.system == gitFolder {
		if string(name) != "info" {
			return
		}
		s.later(place{n, "info"}, false)
	} else if string(name) != n.system.file() {
		return
	}
	if s.reported(n) {
		return
	}
	s.path = append(n.append(s.path[:0]), n.system.file()...)
	w.add(n, opOf(mask))
}
