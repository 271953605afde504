//go:build !linux || portable

package rootfs

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
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
	err := r.in("create", p, func(dir *dirHandle, base string) error {
		if _, err := dir.lstat(base); err == nil {
			return syscall.EEXIST
		}
		temp := r.temps.next(r.owner(), phaseWrite)
		defer r.temps.done(temp)
		name := temp.String()
		defer dir.remove(name)
		err := fillNew(dir, name, opts.Mode, fill)
		if err == nil {
			err = dir.move(name, dir, base)
		}
		if err == nil {
			err = dir.sync()
		}
		if err != nil {
			return err
		}
		info, err = dir.lstat(base)
		return err
	})
	return info, err
}

func fillNew(dir *dirHandle, name string, mode fs.FileMode, fill func(*Writer) error) error {
	f, err := dir.create(name, 0o666)
	if err != nil {
		return err
	}
	w := &Writer{f: f}
	if mode != 0 {
		err = setMode(f, mode)
	}
	if err == nil {
		err = fill(w)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil && !w.mtime.IsZero() {
		err = dir.setModTime(name, w.mtime)
	}
	return err
}

// Symlink makes a symlink to target at p. It never overwrites. The policy is
// applied to target when the link is followed.
func (r *Root) Symlink(target string, p Path) error {
	if err := r.editable("symlink", p, false); err != nil {
		return err
	}
	_, t, err := r.locate("symlink", target, Path{path.Join(p.Dir().s, filepath.ToSlash(target))}.s, followed)
	toDir := err == nil && t == TypeDir
	return r.in("symlink", p, func(dir *dirHandle, base string) error {
		if err := dir.symlink(target, base, toDir); err != nil {
			return err
		}
		return dir.sync()
	})
}

// MkdirPrivate is Mkdir with mode 0700.
func (r *Root) MkdirPrivate(p Path) error {
	if err := r.editable("mkdir", p, true); err != nil {
		return err
	}
	return r.in("mkdir", p, func(dir *dirHandle, base string) error {
		if err := dir.mkdir(base, 0o700); err != nil {
			return err
		}
		return dir.sync()
	})
}

// SetMode gives the file at p other permissions. A file whose permissions are
// not the expected ones is a Conflict.
func (r *Root) SetMode(p Path, expected, mode fs.FileMode) error {
	if err := r.editable("chmod", p, false); err != nil {
		return err
	}
	return r.in("chmod", p, func(dir *dirHandle, base string) error {
		st, err := dir.lstat(base)
		switch {
		case err != nil:
			return err
		case st.Type != TypeFile:
			return errNotRegular
		case st.Mode.Perm() != expected.Perm():
			return errMeta
		}
		if err := dir.chmod(base, mode); err != nil {
			return err
		}
		if st, err = dir.lstat(base); err == nil && st.Mode.Perm() != mode.Perm() {
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
	return r.in("chmod", p, func(dir *dirHandle, base string) error {
		st, err := dir.lstat(base)
		if err != nil {
			return err
		}
		if st.Type != TypeFile && st.Type != TypeDir {
			return errNotRegular
		}
		if err := r.policy.check("chmod", p.String(), p, st.Type == TypeDir); err != nil {
			return err
		}
		if err := dir.chmod(base, mode); err != nil {
			return err
		}
		return dir.setModTime(base, mtime)
	})
}
