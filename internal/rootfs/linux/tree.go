//go:build linux

package linux

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"

	"quarry/internal/rootfs/file"
)

// MoveFile renames a file and never overwrites, even if the file system has no
// such rename.
func (c *Calls) MoveFile(fromDir int, from string, toDir int, to string) error {
	err := c.RenameNoReplace(fromDir, from, toDir, to)
	if err != unix.EINVAL && err != unix.ENOSYS && err != unix.ENOTSUP {
		return err
	}
	return c.MoveByLink(fromDir, from, toDir, to)
}

// MoveByLink renames a file and never overwrites, for file systems without such a rename. It
// makes a second link and removes the first. Without links, as on exFAT and some network
// file systems, it creates an empty file and renames over that.
func (c *Calls) MoveByLink(fromDir int, from string, toDir int, to string) error {
	err := c.Link(fromDir, from, toDir, to)
	switch err {
	case nil:
		return c.Unlink(fromDir, from, 0)
	case unix.EPERM, unix.ENOTSUP, unix.ENOSYS, unix.EMLINK:
	default:
		return err
	}
	fd, err := Openat(toDir, to, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	if err := syscall.Close(fd); err != nil {
		return err
	}
	if err := c.Rename(fromDir, from, toDir, to); err != nil {
		return errors.Join(err, c.Unlink(toDir, to, 0))
	}
	return nil
}

// RemoveTree deletes the folder called name with its contents, without following links.
// Entries created in the meantime are deleted, too, or make the last step fail.
func (c *Calls) RemoveTree(dir int, name string) error {
	fd, err := Openat(dir, name, FlagsDir, 0)
	if err != nil {
		return err
	}
	entries, err := List(fd, nil)
	for _, e := range entries {
		if err != nil {
			break
		}
		if e.Type == file.TypeDir {
			err = c.RemoveTree(fd, e.Name)
		} else {
			err = c.Unlink(fd, e.Name, 0)
		}
		if err == unix.ENOENT {
			err = nil
		}
	}
	syscall.Close(fd)
	if err != nil {
		return err
	}
	return c.Unlink(dir, name, unix.AT_REMOVEDIR)
}

// CopyEntry copies an entry with its contents, and syncs the copy.
func (c *Calls) CopyEntry(fromDir int, from string, toDir int, to string) error {
	info, err := c.InfoAt(fromDir, from)
	if err != nil {
		return err
	}
	switch info.Type {
	case file.TypeSymlink:
		target, err := linkTarget(fromDir, from)
		if err != nil {
			return err
		}
		return c.Symlink(target, toDir, to)
	case file.TypeDir:
		return c.copyDir(fromDir, from, toDir, to)
	case file.TypeFile:
		return c.copyFile(fromDir, from, toDir, to)
	}
	return file.ErrNotRegular
}

func linkTarget(dir int, name string) (string, error) {
	look, err := Openat(dir, name, FlagsLook, 0)
	if err != nil {
		return "", err
	}
	defer syscall.Close(look)
	return Readlink(look)
}

func (c *Calls) copyFile(fromDir int, from string, toDir int, to string) error {
	fd, err := Openat(fromDir, from, FlagsFile, 0)
	if err != nil {
		return err
	}
	var info file.Info
	if err := Adopt(fd, &info); err != nil {
		return err
	}
	defer syscall.Close(fd)
	out, err := c.Create(toDir, to, 0o600)
	if err != nil {
		return err
	}
	_, err = c.Copy(fd, 0, out, 0, info.Size)
	if err == nil {
		err = c.finishCopy(fd, info, out)
	}
	if e := c.CloseWritten(out); err == nil {
		err = e
	}
	return err
}

// finishCopy copies the metadata and syncs. Attributes that the other file system can't
// store, and an owner that we may not set, are omitted.
func (c *Calls) finishCopy(from int, info file.Info, to int) error {
	if err := c.CopyMeta(from, info, to); err == ErrUnpreservable {
		err = c.Chmod(to, UnixMode(info.Mode.Perm()))
		if err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	if err := c.SetModTime(to, info.ModTime); err != nil {
		return err
	}
	return c.Sync(to)
}

func (c *Calls) copyDir(fromDir int, from string, toDir int, to string) error {
	fd, err := Openat(fromDir, from, FlagsDir, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	info, err := InfoOf(fd)
	if err != nil {
		return err
	}
	entries, err := List(fd, nil)
	if err != nil {
		return err
	}
	if err := c.Mkdir(toDir, to, 0o700); err != nil {
		return err
	}
	out, err := Openat(toDir, to, FlagsDir, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(out)
	for _, e := range entries {
		if err := c.CopyEntry(fd, e.Name, out, e.Name); err != nil {
			return err
		}
	}
	return c.finishCopy(fd, info, out)
}

// VerifyCopy verifies that a copy has the same names, types, link targets, modification times
// and, if content is set, content as the original, which may have changed since.
func (c *Calls) VerifyCopy(fromDir int, from string, toDir int, to string, content bool) error {
	a, errA := c.InfoAt(fromDir, from)
	b, errB := c.InfoAt(toDir, to)
	switch {
	case errA != nil || errB != nil:
		return errors.Join(errA, errB)
	case a.Type != b.Type, a.Type == file.TypeFile && (a.Size != b.Size || !a.ModTime.Equal(b.ModTime)):
		return file.ErrVerifyCopy
	case a.Type == file.TypeFile && content:
		v, errV := c.VersionAt(fromDir, from, a.Size)
		w, errW := c.VersionAt(toDir, to, b.Size)
		if err := errors.Join(errV, errW); err != nil {
			return err
		}
		if v != w {
			return file.ErrVerifyCopy
		}
	case a.Type == file.TypeSymlink:
		v, errV := linkTarget(fromDir, from)
		w, errW := linkTarget(toDir, to)
		if err := errors.Join(errV, errW); err != nil {
			return err
		}
		if v != w {
			return file.ErrVerifyCopy
		}
	case a.Type == file.TypeDir:
		return c.verifyDir(fromDir, from, toDir, to, content)
	}
	return nil
}

func (c *Calls) verifyDir(fromDir int, from string, toDir int, to string, content bool) error {
	fd, err := Openat(fromDir, from, FlagsDir, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	out, err := Openat(toDir, to, FlagsDir, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(out)
	want, errA := List(fd, nil)
	have, errB := List(out, nil)
	if err := errors.Join(errA, errB); err != nil {
		return err
	}
	if len(want) != len(have) {
		return file.ErrVerifyCopy
	}
	for _, w := range want {
		if err := c.VerifyCopy(fd, w.Name, out, w.Name, content); err != nil {
			return err
		}
	}
	return nil
}
