//go:build linux && !portable

package rootfs

import (
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
