package rootfs

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"syscall"
	"time"

	"quarry/internal/rootfs/file"
	"quarry/internal/rootfs/version"
)

// Changes of one entry have the same steps on every system: check the policy, open the
// folder, make the change in it, sync the folder. This file implements them with the
// few methods of folder, which each system provides. Replace, Rename and crash recovery
// have a version for Linux and one for other systems, which lack leases and mostly lack
// exchanging.

// sysFolder has the methods of an open folder that the steps need. Names have no separator,
// and symlinks are not followed.
type sysFolder interface {
	Lstat(name string) (Info, error)
	Mkdir(name string, perm fs.FileMode) error
	Symlink(target, name string, toDir bool) error
	// Remove deletes a file, a symlink or an empty folder.
	Remove(name string) error
	RemoveAll(name string) error
	// Move renames and never overwrites.
	Move(name string, to *folder, base string) error
	// Sync makes the names in the folder durable.
	Sync() error
}

var _ sysFolder = (*folder)(nil)

// Mkdir makes the folder p, durably. Its parent must exist.
func (r *Root) Mkdir(p Path) error { return r.mkdirWith(p, 0o777) }

// MkdirPrivate is Mkdir with mode 0700, whatever the umask.
func (r *Root) MkdirPrivate(p Path) error { return r.mkdirWith(p, 0o700) }

func (r *Root) mkdirWith(p Path, perm fs.FileMode) error {
	if err := r.editable("mkdir", p, true); err != nil {
		return err
	}
	return r.within("mkdir", p, func(dir *folder, p Path) error {
		base := p.Base()
		if err := dir.Mkdir(base, perm); err != nil {
			return err
		}
		err := dir.Sync()
		if err != nil {
			dir.Remove(base) // roll back, because it is not durable
		}
		return err
	})
}

// Symlink makes a symlink to target at p, durably. It never overwrites. The
// policy is applied to target when the link is followed.
func (r *Root) Symlink(target string, p Path) error {
	if err := r.editable("symlink", p, false); err != nil {
		return err
	}
	toDir := r.leadsToDir(target, p)
	return r.within("symlink", p, func(dir *folder, p Path) error {
		if err := dir.Symlink(target, p.Base(), toDir); err != nil {
			return err
		}
		return dir.Sync()
	})
}

// Create makes a new file at p with the given content, durably. It never overwrites: if p
// exists, the error is AlreadyExists. The folder must exist.
func (r *Root) Create(p Path, data []byte, opts *CreateOptions) (Version, Info, error) {
	fill := func(w *Writer) error { return w.put(data) }
	info, err := r.CreateFunc(p, opts, fill)
	if r.madeRoom(err) {
		info, err = r.CreateFunc(p, opts, fill)
	}
	if err != nil {
		return Version{}, Info{}, err
	}
	return version.Of(data), info, nil
}

// CreateFunc is Create for content that isn't held in memory: fill writes it.
// The file appears under its name only when fill has succeeded and everything
// is durable.
func (r *Root) CreateFunc(p Path, opts *CreateOptions, fill func(*Writer) error) (info Info, err error) {
	if err := r.editable("create", p, false); err != nil {
		return Info{}, err
	}
	opts = cmp.Or(opts, &CreateOptions{})
	err = r.within("create", p, func(dir *folder, p Path) (err error) {
		info, err = r.createIn(dir, p, opts, fill)
		return err
	})
	return info, err
}

func (r *Root) createIn(dir *folder, p Path, opts *CreateOptions, fill func(*Writer) error) (Info, error) {
	base := p.Base()
	if _, err := dir.Lstat(base); err == nil {
		return Info{}, syscall.EEXIST
	} else if !errors.Is(err, fs.ErrNotExist) {
		return Info{}, err
	}
	temp := r.temps.next(r.owner(), phaseWrite)
	defer r.temps.done(temp)
	name := temp.String()
	w, err := newWriter(dir, name)
	if err != nil {
		return Info{}, err
	}
	err = fill(w)
	if e := w.finish(dir, name, opts.Mode, err == nil); err == nil {
		err = e
	}
	if err == nil {
		err = dir.Move(name, dir, base)
	}
	if err != nil {
		if e := dir.Remove(name); e != nil && !errors.Is(e, fs.ErrNotExist) {
			r.temps.leave(p.Dir()) // tried again when the root is closed
		}
		return Info{}, err
	}
	if err := dir.Sync(); err != nil {
		dir.Remove(base) // roll back, because it is not durable
		return Info{}, err
	}
	return made(dir, base)
}

// Remove deletes the file, symlink or empty folder at p, durably.
func (r *Root) Remove(p Path) error {
	return r.remove(p, func(dir *folder, p Path, _ bool) error { return dir.Remove(p.Base()) })
}

// RemoveAll deletes p and everything in it. Nothing is deleted if p contains an entry that
// the policy denies. Symlinks are deleted, never followed.
func (r *Root) RemoveAll(p Path) error {
	return r.remove(p, func(dir *folder, p Path, isDir bool) error {
		if !isDir {
			return dir.Remove(p.Base())
		}
		d, err := dirOf(dir, r, p.Dir()).openDir(p.Base())
		if err != nil {
			return err
		}
		err = d.Vet(context.Background(), "remove")
		d.Close()
		if err != nil {
			return err
		}
		return dir.RemoveAll(p.Base())
	})
}

func (r *Root) remove(p Path, f func(dir *folder, p Path, isDir bool) error) error {
	const op = "remove"
	if err := r.editable(op, p, true); err != nil {
		return err
	}
	return r.within(op, p, func(dir *folder, p Path) error {
		info, err := dir.Lstat(p.Base())
		if err != nil {
			return err
		}
		isDir := info.Type == TypeDir
		if err := r.policy.check(op, p.String(), p, isDir); err != nil {
			return err
		}
		if err := f(dir, p, isDir); err != nil {
			return err
		}
		return dir.Sync()
	})
}

// SetMode changes the permissions of the file at p, durably. It follows no symlink. If the
// current permissions are not the expected ones, the error is Conflict.
func (r *Root) SetMode(p Path, expected, mode fs.FileMode) error {
	if err := r.editable("chmod", p, false); err != nil {
		return err
	}
	return r.withAttributes(p, func(a *attributes, _ Path) error {
		info, err := a.info()
		switch {
		case err != nil:
			return err
		case info.Type != TypeFile:
			return file.ErrNotRegular
		case info.Mode.Perm() != expected.Perm():
			return errMeta
		}
		if err := a.chmod(mode); err != nil {
			return err
		}
		// Some file systems accept any mode but don't change it.
		if info, err = a.info(); err != nil {
			return err
		}
		if info.Mode.Perm() != mode.Perm() {
			return errModeKept
		}
		return a.sync()
	})
}

// SetMeta restores the recorded permissions and modification time of the file or folder
// at p. It follows no symlink.
func (r *Root) SetMeta(p Path, mode fs.FileMode, mtime time.Time) error {
	if err := r.editable("chmod", p, true); err != nil {
		return err
	}
	return r.withAttributes(p, func(a *attributes, p Path) error {
		info, err := a.info()
		if err != nil {
			return err
		}
		if info.Type != TypeFile && info.Type != TypeDir {
			return file.ErrNotRegular
		}
		if err := r.policy.check("chmod", p.String(), p, info.Type == TypeDir); err != nil {
			return err
		}
		if err := a.chmod(mode); err != nil {
			return err
		}
		if err := a.setModTime(mtime); err != nil {
			return err
		}
		return a.sync()
	})
}

func (r *Root) withAttributes(p Path, f func(a *attributes, p Path) error) error {
	return r.within("chmod", p, func(dir *folder, p Path) error {
		a, err := attributesOf(dir, p.Base())
		if err != nil {
			return err
		}
		err = f(a, p)
		if e := a.close(); err == nil {
			err = e
		}
		return err
	})
}

// LeftOver reports whether an entry is an abandoned temporary file, which CleanTemps would
// handle.
func (r *Root) LeftOver(name string, info Info) bool {
	t, err := parseTempName(name)
	return err == nil && r.abandoned(t, info)
}
