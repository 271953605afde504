//go:build linux && !portable

package rootfs

import (
	"context"
	"syscall"

	"golang.org/x/sys/unix"
)

// moveFile renames a file and never overwrites, even if the file system has no
// such rename.
func (r *Root) moveFile(fromDir int, from string, toDir int, to string) error {
	err := r.renameNoReplace(fromDir, from, toDir, to)
	if err != unix.EINVAL && err != unix.ENOSYS && err != unix.ENOTSUP {
		return err
	}
	if err := r.link(fromDir, from, toDir, to); err != nil {
		return err
	}
	return r.unlink(fromDir, from, 0)
}

// Mkdir makes the folder p, durably. Its parent must exist.
func (r *Root) Mkdir(p Path) error {
	const op = "mkdir"
	if err := r.editable(op, p, true); err != nil {
		return err
	}
	at, err := r.place(op, p)
	if err != nil {
		return err
	}
	defer at.close()
	if err := r.mkdir(at.dir, at.name, 0o777); err != nil {
		return wrap(op, p.String(), err)
	}
	if err := r.syncDir(at.dir); err != nil {
		r.unlink(at.dir, at.name, unix.AT_REMOVEDIR)
		return wrap(op, p.String(), err)
	}
	return nil
}

// Remove deletes the file, symlink or empty folder at p, durably.
func (r *Root) Remove(p Path) error {
	const op = "remove"
	if err := r.writable(op, p); err != nil {
		return err
	}
	at, err := r.removable(op, p)
	if err != nil {
		return err
	}
	defer at.close()
	err = r.unlink(at.dir, at.name, 0)
	if err == unix.EISDIR {
		err = r.unlink(at.dir, at.name, unix.AT_REMOVEDIR)
	}
	if err == nil {
		err = r.syncDir(at.dir)
	}
	return wrap(op, p.String(), err)
}

// removable opens the place of p and checks what is there.
func (r *Root) removable(op string, p Path) (place, error) {
	if err := r.editable(op, p, true); err != nil {
		return place{}, err
	}
	at, err := r.place(op, p)
	if err != nil {
		return at, err
	}
	info, err := r.infoAt(at.dir, at.name)
	if err == nil {
		err = r.policy.check(op, p.String(), at.path, info.Type == TypeDir)
	}
	if err != nil {
		at.close()
		return place{}, wrap(op, p.String(), err)
	}
	return at, nil
}

// RemoveAll deletes p and everything in it. A folder with anything that the
// policy refuses is not deleted; this is checked first. Symlinks are deleted,
// never followed.
func (r *Root) RemoveAll(p Path) error {
	const op = "remove"
	if err := r.writable(op, p); err != nil {
		return err
	}
	at, err := r.removable(op, p)
	if err != nil {
		return err
	}
	defer at.close()
	info, err := r.infoAt(at.dir, at.name)
	if err == nil && info.Type == TypeDir {
		if err := r.vet(at); err != nil {
			return err
		}
		err = r.removeTree(at.dir, at.name)
	} else if err == nil {
		err = r.unlink(at.dir, at.name, 0)
	}
	if err == nil {
		err = r.syncDir(at.dir)
	}
	return wrap(op, p.String(), err)
}

func (r *Root) vet(at place) error {
	d, err := (&Dir{fd: at.dir, path: at.path.Dir(), root: r}).openDir(at.name)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Vet(context.Background(), "remove")
}

// removeTree deletes the folder called name with everything in it, without
// following links. Entries that appear meanwhile are deleted too, or make the
// last step fail.
func (r *Root) removeTree(dir int, name string) error {
	fd, err := openat(dir, name, flagsDir, 0)
	if err != nil {
		return err
	}
	d := &Dir{fd: fd, root: r}
	entries, err := d.Read(nil)
	for _, e := range entries {
		if err != nil {
			break
		}
		if e.Type == TypeDir {
			err = r.removeTree(fd, e.Name)
		} else {
			err = r.unlink(fd, e.Name, 0)
		}
		if err == unix.ENOENT {
			err = nil
		}
	}
	syscall.Close(fd)
	if err != nil {
		return err
	}
	return r.unlink(dir, name, unix.AT_REMOVEDIR)
}
