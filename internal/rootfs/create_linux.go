//go:build linux && !portable

package rootfs

import (
	"errors"
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
	return r.moveByLink(fromDir, from, toDir, to)
}

// moveByLink gives a file another name and never overwrites, where no rename does
// that. exFAT and some network file systems have no links either: there an empty file
// takes the name first, and only that is replaced.
func (r *Root) moveByLink(fromDir int, from string, toDir int, to string) error {
	err := r.link(fromDir, from, toDir, to)
	switch err {
	case nil:
		return r.unlink(fromDir, from, 0)
	case unix.EPERM, unix.ENOTSUP, unix.ENOSYS, unix.EMLINK:
	default:
		return err
	}
	fd, err := openat(toDir, to, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	if err := syscall.Close(fd); err != nil {
		return err
	}
	if err := r.rename(fromDir, from, toDir, to); err != nil {
		return errors.Join(err, r.unlink(toDir, to, 0))
	}
	return nil
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
