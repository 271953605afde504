package watch

import (
	"context"
	"strings"

	"quarry/fault"
	"quarry/internal/policy"
	"quarry/internal/rootfs"
)

// folders is used on systems that watch a whole tree and report changes by path. Their
// events don't tell whether a deleted name was a folder, so folders records which folders
// exist. It is compiled on all systems, so that its tests run everywhere.
type folders struct {
	w     *Watcher        // changes are added to its pending set
	known map[string]bool // by path; false means not admitted, so folders below are not recorded
	asked []string        // folders that rescan has newly admitted
}

// learn records the folders below dir. An unreadable folder is recorded too: an event
// reports when it becomes readable.
func (f *folders) learn(ctx context.Context, dir string) error {
	todo := []string{dir}
	for len(todo) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		f.known[at] = true
		d, err := f.w.root.OpenDir(f.w.path(at))
		if err != nil {
			continue
		}
		entries, _ := d.Read(nil)
		if f.w.opts.Listed != nil {
			f.w.opts.Listed(d, entries)
		}
		d.Close()
		for _, e := range entries {
			if e.Type != rootfs.TypeDir {
				continue
			}
			child := join(at, strings.Clone(e.Name))
			if f.admits(at, e.Name) {
				todo = append(todo, child)
			} else {
				f.known[child] = false
			}
		}
	}
	return nil
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// admits reports whether a folder is to be watched.
func (f *folders) admits(dir, name string) bool {
	var prefix []byte
	if dir != "" {
		prefix = append([]byte(dir), '/')
	}
	f.w.noteProtected(prefix, name)
	p := f.w.path(dir)
	if f.w.root.Policy().Entry(p.String(), name, true) != policy.Allowed {
		return false
	}
	return f.w.opts.Admit == nil || f.w.opts.Admit(p, name)
}

// inside reports whether all parent folders of path are admitted. An unknown folder
// counts as admitted, because it will be reported as a tree.
func (f *folders) inside(path string) bool {
	for i := 0; i < len(path); i++ {
		if path[i] != '/' {
			continue
		}
		if admitted, known := f.known[path[:i]]; known && !admitted {
			return false
		}
	}
	return true
}

// steering reports whether path is a file in a protected folder that determines which
// files are searched.
func steering(path string) bool {
	return path == ".git/info/exclude" || strings.HasSuffix(path, "/.git/info/exclude")
}

// happened handles one event. It checks whether the path is a folder now. If the path
// changed after the event, another event follows.
func (f *folders) happened(ctx context.Context, path string, op Op) {
	if steering(path) {
		f.noteFile(path, op)
		return
	}
	if path == "" || !f.inside(path) {
		return
	}
	if up := parent(path); !f.known[up] {
		// The folder was deleted before it could be listed, or it was moved.
		for up != "" && !f.known[up] {
			up = parent(up)
		}
		f.w.pending.tree([]byte(up))
	}
	_, wasDir := f.known[path]
	isDir := wasDir && op&(Created|Removed) == 0
	if op&(Created|Removed) != 0 {
		info, err := f.w.root.Stat(f.w.path(path))
		if rootfs.KindOf(err) == fault.ProtectedPath {
			// The folder itself is reported when it is made or deleted, but not its
			// contents.
			f.w.noteProtected([]byte(path[:len(path)-len(base(path))]), base(path))
			f.known[path] = false
			f.noteFile(path, op)
			return
		}
		isDir = err == nil && info.Type == rootfs.TypeDir
	}
	if isDir && wasDir && op&(Created|Removed|over) == 0 {
		return // only the folder's times changed: changes in it have their own events
	}
	if wasDir {
		f.forget(path)
	}
	switch {
	case isDir && f.admits(parent(path), base(path)):
		f.w.pending.tree([]byte(path))
		f.learn(ctx, path)
	case isDir:
		f.known[path] = false
		f.noteFile(path, op)
	case wasDir:
		f.w.pending.tree([]byte(path))
		f.noteFile(path, op)
	default:
		f.noteFile(path, op)
	}
}

func (f *folders) noteFile(path string, op Op) {
	passed, ok := f.w.pending.file([]byte(path), op, f.w.pending.covered(path))
	if !ok {
		f.w.pending.tree([]byte(parent(path)))
	}
	f.w.pending.passed = f.w.pending.passed || passed
}

func parent(path string) string {
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		return path[:i]
	}
	return ""
}

func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// forget removes the records of a folder and of those below it.
func (f *folders) forget(dir string) {
	delete(f.known, dir)
	prefix := dir + "/"
	for d := range f.known {
		if strings.HasPrefix(d, prefix) {
			delete(f.known, d)
		}
	}
}

// lose handles lost events: everything must be compared.
func (f *folders) lose(ctx context.Context) error {
	f.w.pending.all()
	f.w.pending.lost = true
	clear(f.known)
	return f.learn(ctx, "")
}

// rescan calls Admit again for the folders below dir. Newly admitted folders are
// reported.
func (f *folders) rescan(dir rootfs.Path) {
	top := dir.String()
	if dir.IsRoot() {
		top = ""
	}
	for d, was := range f.known {
		if d == "" || top != "" && d != top && !strings.HasPrefix(d, top+"/") {
			continue
		}
		is := f.admits(parent(d), base(d))
		switch {
		case is && !was:
			f.asked = append(f.asked, d)
		case !is && was:
			f.known[d] = false
		}
	}
}

// settle records the folders below those newly admitted by rescan.
func (f *folders) settle(ctx context.Context) error {
	for _, d := range f.asked {
		if !f.inside(d) {
			continue
		}
		f.w.pending.tree([]byte(d))
		if err := f.learn(ctx, d); err != nil {
			return err
		}
	}
	f.asked = f.asked[:0]
	return ctx.Err()
}
