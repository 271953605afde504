//go:build !linux || portable

package rootfs

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"time"
)

// within opens the folder of p and calls f with it and the path that was opened.
func (r *Root) within(op string, p Path, f func(dir *folder, p Path) error) error {
	return r.retry(op, &p, func(rel string) error {
		dir, _, err := r.sys.openParent(rel)
		if err != nil {
			return err
		}
		defer dir.Close()
		if len(r.own) > 0 {
			here, _ := dir.Lstat(Path{rel}.Base()) // zero if it doesn't exist
			if err := r.notOwn(op, dir, Path{rel}, here); err != nil {
				return err
			}
		}
		return f(dir, Path{rel})
	})
}

// in is within for changes that only need the name.
func (r *Root) in(op string, p Path, f func(dir *folder, base string) error) error {
	return r.within(op, p, func(dir *folder, p Path) error { return f(dir, p.Base()) })
}

// made describes an entry after a successful change.
func made(dir *folder, name string) (Info, error) { return dir.Lstat(name) }

// dirOf returns the folder with path p as a Dir.
func dirOf(dir *folder, r *Root, p Path) *Dir { return &Dir{h: dir, path: p, root: r} }

// leadsToDir reports whether a symlink at p to target leads to a folder. Windows requires
// this when the symlink is made.
func (r *Root) leadsToDir(target string, p Path) bool {
	_, t, err := r.locate("symlink", target, Path{path.Join(p.Dir().s, filepath.ToSlash(target))}.s, followed)
	return err == nil && t == TypeDir
}

// newWriter makes a new file.
func newWriter(dir *folder, name string) (*Writer, error) {
	f, err := dir.Create(name, 0o666)
	return &Writer{f: f}, err
}

// finish makes a complete file durable, and closes it. A mode of 0 keeps the current
// mode.
func (w *Writer) finish(dir *folder, name string, mode fs.FileMode, complete bool) (err error) {
	if complete && mode != 0 {
		err = setMode(w.f, mode)
	}
	if complete && err == nil {
		err = w.f.Sync()
	}
	err = errors.Join(err, w.f.Close())
	if complete && err == nil && !w.mtime.IsZero() {
		err = dir.SetModTime(name, w.mtime)
	}
	return err
}

// attributes are the attributes of an entry, by its name.
type attributes struct {
	dir  *folder
	name string
}

// attributesOf opens a file or folder to change its metadata, not its content.
func attributesOf(dir *folder, name string) (*attributes, error) { return &attributes{dir, name}, nil }

func (a *attributes) info() (Info, error)          { return a.dir.Lstat(a.name) }
func (a *attributes) chmod(mode fs.FileMode) error { return a.dir.Chmod(a.name, mode) }
func (a *attributes) setModTime(t time.Time) error { return a.dir.SetModTime(a.name, t) }
func (a *attributes) sync() error                  { return nil } // impossible by name
func (a *attributes) close() error                 { return nil }

// drain does nothing: no displaced files are watched on this system.
func (r *Root) drain(bool) {}

// madeRoom returns false: there are no displaced files to release.
func (r *Root) madeRoom(error) bool { return false }
