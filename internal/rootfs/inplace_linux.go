//go:build linux && !portable

package rootfs

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"

	"quarry/internal/rootfs/file"
	"quarry/internal/rootfs/linux"
)

// inPlace rewrites the same inode: first a durable backup, then the content. A failure
// restores the old content; CleanTemps repairs a crash.
func (c *replacement) inPlace() (Replaced, error) {
	r, dir := c.r, c.at.dir
	defer linux.LockDir(dir)()
	// Use one handle for everything, since a second one would prevent the lease.
	fd, err := r.sys.OpenName(dir, c.at.name, unix.O_RDWR|unix.O_NONBLOCK|unix.O_NOCTTY)
	if err != nil {
		return Replaced{}, err
	}
	info := c.old.info
	c.old.Close()
	c.old = new(File)
	if err := c.old.adopt(fd); err != nil {
		c.old.fd = -1
		return Replaced{}, err
	}
	if !c.old.info.SameFile(info) {
		return Replaced{}, file.ErrMeanwhile
	}
	temp := r.temps.next(r.owner(), phaseBackup)
	defer r.temps.done(temp)
	name := temp.String()
	bk, b, err := c.backUp(name)
	if err != nil || b.old == b.new {
		if bk >= 0 {
			syscall.Close(bk)
		}
		r.drop(c.at, name)
		if err == nil {
			return Replaced{Old: b.old, New: b.new, Info: c.old.info, Unchanged: true}, nil
		}
		return Replaced{}, err
	}
	defer syscall.Close(bk)
	if err := c.overwrite(bk, b); err != nil {
		return Replaced{}, c.restore(bk, b, name, err)
	}
	r.drop(c.at, name)
	now, err := linux.InfoOf(fd)
	if err != nil {
		now = c.old.info
	}
	return Replaced{Old: b.old, New: b.new, Info: now, InPlace: true}, nil
}

// backUp writes the backup and makes it and its name durable.
func (c *replacement) backUp(name string) (fd int, b backup, err error) {
	r, size := c.r, c.old.info.Size
	if fd, err = r.sys.Create(c.at.dir, name, 0o600); err != nil {
		return -1, b, err
	}
	b = backup{ino: c.old.info.Ino, oldSize: size, base: c.at.name}
	if b.old, err = r.sys.Copy(c.old.fd, 0, fd, backupHeader, size); err != nil {
		return fd, b, err
	}
	got, err := r.sys.Pour(c.old.fd, fd, backupHeader+size, size, c.edits, nil)
	switch {
	case err != nil:
		return fd, b, err
	case got.Old != b.old:
		return fd, b, file.ErrMeanwhile
	case !c.expected.IsZero() && got.Old != c.expected:
		return fd, b, file.ErrVersion
	case !c.want.IsZero() && got.New != c.want:
		return fd, b, errWant
	}
	c.got, b.new, b.newSize = got, got.New, got.NewSize
	if b.old == b.new {
		return fd, b, nil
	}
	// The header makes the backup valid, so write it last.
	if err := r.sys.Sync(fd); err != nil {
		return fd, b, err
	}
	if err := r.sys.PwriteAll(fd, b.encode(), 0); err != nil {
		return fd, b, err
	}
	if err := r.sys.SavePrivileges(c.old.fd, fd); err != nil {
		return fd, b, err
	}
	if err := r.sys.Sync(fd); err != nil {
		return fd, b, err
	}
	return fd, b, r.sys.SyncDir(c.at.dir)
}

// errUntouched marks a failure before the first byte was overwritten.
type errUntouched struct{ error }

func (e errUntouched) Unwrap() error { return e.error }

func (c *replacement) overwrite(bk int, b backup) error {
	r, fd := c.r, c.old.fd
	// A write lease keeps other programs from opening the file. It isn't granted if one has the file open;
	// then a write between the following check and our first write is lost.
	if r.FSKind() == FSLocal {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_WRLCK); err == nil {
			defer unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_UNLCK)
		}
	}
	now, err := r.sys.FDInfo(fd)
	if err == nil && now.Size != b.oldSize {
		err = file.ErrMeanwhile
	}
	if err == nil {
		var v Version
		if v, err = r.sys.Hash(fd, 0, b.oldSize); err == nil && v != b.old {
			err = file.ErrMeanwhile
		}
	}
	if err == nil && c.keep != nil {
		if _, err = syscall.Seek(fd, 0, 0); err == nil {
			err = c.keep(c.old)
		}
	}
	if err != nil {
		return errUntouched{err}
	}
	v, err := r.sys.Copy(bk, backupHeader+b.oldSize, fd, 0, b.newSize)
	if err != nil {
		return err
	}
	if v != b.new {
		return unix.EIO
	}
	if err := r.sys.Truncate(fd, b.newSize); err != nil {
		return err
	}
	if err := r.sys.RegainPrivileges(bk, fd, c.old.info); err != nil {
		return err
	}
	return r.sys.Sync(fd)
}

// restore writes the old content back after a failed rewrite. If that fails
// too, twice, the backup stays for CleanTemps, which Close calls.
func (c *replacement) restore(bk int, b backup, name string, cause error) error {
	var untouched errUntouched
	if errors.As(cause, &untouched) {
		cause = untouched.error
	} else if err := twice(func() error { return c.r.putBack(bk, b, c.old.fd, c.old.info) }); err != nil {
		c.r.temps.leave(c.at.path.Dir())
		return errors.Join(cause, &StuckError{err})
	}
	c.r.drop(c.at, name)
	return cause
}

// twice calls f again if it fails, so that a transient fault doesn't prevent a rollback.
func twice(f func() error) error {
	if f() == nil {
		return nil
	}
	return f()
}

// putBack writes the old content of a backup to fd. was describes the file before the
// rewrite; it is zero if unknown.
func (r *Root) putBack(bk int, b backup, fd int, was Info) error {
	v, err := r.sys.Copy(bk, backupHeader, fd, 0, b.oldSize)
	if err != nil {
		return err
	}
	if v != b.old {
		return unix.EIO
	}
	if err := r.sys.Truncate(fd, b.oldSize); err != nil {
		return err
	}
	if err := r.sys.RegainPrivileges(bk, fd, was); err != nil {
		return err
	}
	return r.sys.Sync(fd)
}
