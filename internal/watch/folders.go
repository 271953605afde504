//go:build (windows || (darwin && fsevents)) && !portable

package watch

import (
	"context"
	"strings"

	"quarry/internal/policy"
	"quarry/internal/rootfs"
)

// folders is for systems that watch a whole tree and tell of changes by path:
// they don't say whether a name that is gone was a folder, so the folders that
// exist are known here, as on Linux through their watches.
type folders struct {
	known map[string]bool // by path; false: nobody admitted it, and nothing below is known
	kept  rootfs.FSKind
}

// learn lists the folders below dir. A folder that can't be listed counts as
// known: its own events tell more.
func (w *Watcher) learn(ctx context.Context, dir string) error {
	s := &w.system
	todo := []string{dir}
	for len(todo) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		s.known[at] = true
		d, err := w.root.OpenDir(w.path(at))
		if err != nil {
			continue
		}
		entries, _ := d.Read(nil)
		d.Close()
		for _, e := range entries {
			if e.Type != rootfs.TypeDir {
				continue
			}
			child := join(at, strings.Clone(e.Name))
			if w.admits(at, e.Name) {
				todo = append(todo, child)
			} else {
				s.known[child] = false
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

// admits decides about one folder.
func (w *Watcher) admits(dir, name string) bool {
	var prefix []byte
	if dir != "" {
		prefix = append([]byte(dir), '/')
	}
	w.noteProtected(prefix, name)
	p := w.path(dir)
	if w.root.Policy().Entry(p.String(), name, true) != policy.Allowed {
		return false
	}
	return w.opts.Admit == nil || w.opts.Admit(p, name)
}

// inside reports whether all folders above path are admitted. One that is not
// known yet is about to be reported as a tree.
func (w *Watcher) inside(path string) bool {
	for i := 0; i < len(path); i++ {
		if path[i] != '/' {
			continue
		}
		if admitted, known := w.system.known[path[:i]]; known && !admitted {
			return false
		}
	}
	return true
}

// steering reports whether path is one of the files in protected folders that
// say which files belong to a search.
func steering(path string) bool {
	return path == ".git/info/exclude" || strings.HasSuffix(path, "/.git/info/exclude") ||
		path == ".obsidian/app.json" || strings.HasSuffix(path, "/.obsidian/app.json")
}

// happened takes one event. Whether the name is a folder now is looked up; by
// then it may be something else, and another event is under way.
func (w *Watcher) happened(ctx context.Context, path string, op Op) {
	s := &w.system
	if steering(path) {
		w.noteFile(path, op)
		return
	}
	if path == "" || !w.inside(path) {
		return
	}
	if up := parent(path); !s.known[up] {
		// It went before we could list it, or came as another name.
		for up != "" && !s.known[up] {
			up = parent(up)
		}
		w.pending.tree([]byte(up))
	}
	_, wasDir := s.known[path]
	isDir := wasDir && op&(Created|Removed) == 0
	if op&(Created|Removed) != 0 {
		info, err := w.root.Stat(w.path(path))
		if rootfs.KindOf(err) == rootfs.Protected {
			// Told as it comes and goes, but for what is in it.
			w.noteProtected([]byte(path[:len(path)-len(base(path))]), base(path))
			s.known[path] = false
			w.noteFile(path, op)
			return
		}
		isDir = err == nil && info.Type == rootfs.TypeDir
	}
	if isDir && wasDir && op&(Created|Removed|over) == 0 {
		return // its own time of change: what changed in it has an event of its own
	}
	if wasDir {
		w.forget(path)
	}
	switch {
	case isDir && w.admits(parent(path), base(path)):
		w.pending.tree([]byte(path))
		w.learn(ctx, path)
	case isDir:
		s.known[path] = false
		w.noteFile(path, op)
	case wasDir:
		w.pending.tree([]byte(path))
		w.noteFile(path, op)
	default:
		w.noteFile(path, op)
	}
}

func (w *Watcher) noteFile(path string, op Op) {
	passed, ok := w.pending.file([]byte(path), op, w.pending.covered(path))
	if !ok {
		w.pending.tree([]byte(parent(path)))
	}
	w.pending.passed = w.pending.passed || passed
}

func parent(path string) string {
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		return path[:i]
	}
	return ""
}

func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// forget drops a folder and those below.
func (w *Watcher) forget(dir string) {
	s := &w.system
	delete(s.known, dir)
	prefix := dir + "/"
	for d := range s.known {
		if strings.HasPrefix(d, prefix) {
			delete(s.known, d)
		}
	}
}

// lose is for events that were lost: everything is to be compared.
func (w *Watcher) lose(ctx context.Context) error {
	w.pending.all()
	w.pending.lost = true
	clear(w.system.known)
	return w.learn(ctx, "")
}

// rescan asks again about the folders below dir. Those that come in are reported.
func (w *Watcher) rescan(dir rootfs.Path) {
	s := &w.system
	top := dir.String()
	if dir.IsRoot() {
		top = ""
	}
	for d, was := range s.known {
		if d == "" || top != "" && d != top && !strings.HasPrefix(d, top+"/") {
			continue
		}
		is := w.admits(parent(d), base(d))
		switch {
		case is && !was:
			s.asked = append(s.asked, d)
		case !is && was:
			s.known[d] = false
		}
	}
}

// settle lists the folders that rescan let in.
func (w *Watcher) settle(ctx context.Context) error {
	s := &w.system
	for _, d := range s.asked {
		if !w.inside(d) {
			continue
		}
		w.pending.tree([]byte(d))
		if err := w.learn(ctx, d); err != nil {
			return err
		}
	}
	s.asked = s.asked[:0]
	return ctx.Err()
}

func (w *Watcher) landed() {}
func (w *Watcher) unmark() {}

// swept leaves the report of the root: what was told of it meanwhile is in it.
func (w *Watcher) swept(func(dir string) bool) error { return nil }

// signal tells those who work ahead.
func (w *Watcher) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}
