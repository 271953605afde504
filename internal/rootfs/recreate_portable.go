//go:build !linux || portable

package rootfs

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// Writer receives the content of a file that CreateFunc makes.
type Writer struct {
	f     *os.File
	mtime time.Time
}

// Write appends b.
func (w *Writer) Write(b []byte) (int, error) {
	n, err := w.f.Write(b)
	return n, wrap("write", "file", err)
}

// Clone makes the file share the content of f, where a file system can; here
// none does.
func (w *Writer) Clone(*File) bool { return false }

// ReadAt reads what was written.
func (w *Writer) ReadAt(b []byte, off int64) (int, error) {
	n, err := w.f.ReadAt(b, off)
	return n, readErr(err)
}

// SetModTime gives the file another time of last change.
func (w *Writer) SetModTime(t time.Time) error { w.mtime = t; return nil }

// CreateFunc is Create for content that isn't held in memory: fill writes it.
// The file appears under its name only when fill has succeeded and everything
// is durable.
func (r *Root) CreateFunc(p Path, opts *CreateOptions, fill func(*Writer) error) (Info, error) {
	if err := r.editable("create", p, false); err != nil {
		return Info{}, err
	}
	if opts == nil {
		opts = &CreateOptions{}
	}
	var info Info
	err := r.in("create", p, func(dir *os.Root, base string) error {
		if _, err := dir.Lstat(base); err == nil {
			return syscall.EEXIST
		}
		temp := r.temps.next(r.owner(), phaseWrite)
		defer r.temps.done(temp)
		name := temp.String()
		defer dir.Remove(name)
		err := fillNew(dir, name, opts.Mode, fill)
		if err == nil {
			err = moveName(dir, name, base)
		}
		if err == nil {
			err = syncFolder(dir)
		}
		if err != nil {
			return err
		}
		st, err := dir.Lstat(base)
		if err == nil {
			info = infoOfFile(st)
		}
		return err
	})
	return info, err
}

func fillNew(dir *os.Root, name string, mode fs.FileMode, fill func(*Writer) error) error {
	f, err := dir.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	w := &Writer{f: f}
	if mode != 0 {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = fill(w)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil && !w.mtime.IsZero() {
		err = dir.Chtimes(name, time.Time{}, w.mtime)
	}
	return err
}

// Symlink makes a symlink at p that says target. It never overwrites. What
// target leads to is judged when the link is followed, as always.
func (r *Root) Symlink(target string, p Path) error {
	if err := r.editable("symlink", p, false); err != nil {
		return err
	}
	return r.in("symlink", p, func(dir *os.Root, base string) error {
		if err := dir.Symlink(target, base); err != nil {
			return err
		}
		return syncFolder(dir)
	})
}

// MkdirPrivate is Mkdir with mode 0700.
func (r *Root) MkdirPrivate(p Path) error {
	if err := r.editable("mkdir", p, true); err != nil {
		return err
	}
	return r.in("mkdir", p, func(dir *os.Root, base string) error {
		if err := dir.Mkdir(base, 0o700); err != nil {
			return err
		}
		return syncFolder(dir)
	})
}

// SetMode gives the file at p other permissions. A file whose permissions are
// not the expected ones is a Conflict.
func (r *Root) SetMode(p Path, expected, mode fs.FileMode) error {
	if err := r.editable("chmod", p, false); err != nil {
		return err
	}
	return r.in("chmod", p, func(dir *os.Root, base string) error {
		st, err := dir.Lstat(base)
		switch {
		case err != nil:
			return err
		case !st.Mode().IsRegular():
			return errNotRegular
		case st.Mode().Perm() != expected.Perm():
			return errMeta
		}
		if err := dir.Chmod(base, mode); err != nil {
			return err
		}
		if st, err = dir.Lstat(base); err == nil && st.Mode().Perm() != mode.Perm() {
			err = errModeKept
		}
		return err
	})
}

// SetMeta gives the file or folder at p its permissions and time of last
// change, as they were recorded.
func (r *Root) SetMeta(p Path, mode fs.FileMode, mtime time.Time) error {
	if err := r.editable("chmod", p, true); err != nil {
		return err
	}
	return r.in("chmod", p, func(dir *os.Root, base string) error {
		st, err := dir.Lstat(base)
		if err != nil {
			return err
		}
		if !st.Mode().IsRegular() && !st.IsDir() {
			return errNotRegular
		}
		if err := r.policy.check("chmod", p.String(), p, st.IsDir()); err != nil {
			return err
		}
		if err := dir.Chmod(base, mode); err != nil {
			return err
		}
		return dir.Chtimes(base, time.Time{}, mtime)
	})
}
