//go:build linux && !portable

package watch

import (
	"golang.org/x/sys/unix"

	"quarry/internal/rootfs"
)

// The policy always closes .git, but info/exclude in it steers which files belong to a
// search. The two folders are watched for this file only; other entries in them are never
// reported.
type systemKind uint8

const (
	ordinary systemKind = iota
	gitFolder
	gitInfo
)

// file is the steering file, relative to the folder.
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

// systemFolder reports whether a place is a protected folder or in one, and which: ordinary
// means none. A root without policy has no protected folders, but a repository's rules
// apply there too.
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

// systemEvent handles events on the steering file.
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
