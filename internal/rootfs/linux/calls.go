//go:build linux

package linux

import (
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"quarry/internal/rootfs/file"
	"quarry/internal/rootfs/layer"
)

// Calls makes the system calls that change files. The zero value has no Layer.
type Calls struct{ Layer *layer.Layer }

// Inject returns the error with which a test makes the named system call fail.
func (c *Calls) Inject(call string) error {
	if c.Layer == nil || c.Layer.Before == nil {
		return nil
	}
	return c.Layer.Before(call)
}

// report passes a finished call to the layer.
func (c *Calls) report(e func() layer.Event) {
	if c.Layer != nil && c.Layer.After != nil {
		c.Layer.After(e())
	}
}

// do makes a call unless the layer lets it fail, and reports it if it succeeds.
func (c *Calls) do(name string, call func() error, event func() layer.Event) error {
	if err := c.Inject(name); err != nil {
		return err
	}
	err := call()
	if err == nil {
		c.report(event)
	}
	return err
}

// between returns the event of a call with two names.
func between(call string, fromDir int, from string, toDir int, to string) func() layer.Event {
	return func() layer.Event {
		return layer.Event{Call: call, Dir: inoOf(fromDir), Name: from, ToDir: inoOf(toDir), ToName: to}
	}
}

// inoOf returns the inode number of an open file or folder for an event, or 0 if unknown.
func inoOf(fd int) uint64 {
	info, err := InfoOf(fd)
	if err != nil {
		return 0
	}
	return info.Ino
}

// Create makes a new file; it never opens an existing one.
func (c *Calls) Create(dir int, name string, mode uint32) (int, error) {
	if err := c.Inject("create"); err != nil {
		return -1, err
	}
	return c.CreateWith(dir, name, unix.O_RDWR, mode)
}

// CreateWith is Create with the given flags. Tests can't make it fail.
func (c *Calls) CreateWith(dir int, name string, flags int, mode uint32) (int, error) {
	fd, err := Openat(dir, name, flags|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, mode)
	if err == nil {
		c.report(func() layer.Event { return c.made("create", dir, name) })
	}
	return fd, err
}

// OpenName opens an entry and follows no symlink.
func (c *Calls) OpenName(dir int, name string, flags int) (int, error) {
	if err := c.Inject("open"); err != nil {
		return -1, err
	}
	return Openat(dir, name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
}

// Pread reads at an offset.
func (c *Calls) Pread(fd int, b []byte, off int64) (int, error) {
	if err := c.Inject("read"); err != nil {
		return 0, err
	}
	return Pread(fd, b, off)
}

// PwriteAll writes all of b at off.
func (c *Calls) PwriteAll(fd int, b []byte, off int64) error {
	for len(b) > 0 {
		part := b[:min(len(b), maxIO)]
		if err := c.Inject("write"); err == layer.ErrShort {
			part = part[:(len(part)+1)/2]
		} else if err != nil {
			return err
		}
		n, err := syscall.Pwrite(fd, part, off)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		if n == 0 {
			return unix.EIO
		}
		c.report(func() layer.Event { return layer.Event{Call: "write", File: inoOf(fd), Off: off, Data: part[:n]} })
		b, off = b[n:], off+int64(n)
	}
	return nil
}

// Truncate cuts an open file.
func (c *Calls) Truncate(fd int, size int64) error {
	return c.do("truncate", func() error { return ignoringEINTR(func() error { return syscall.Ftruncate(fd, size) }) },
		func() layer.Event { return layer.Event{Call: "truncate", File: inoOf(fd), Size: size} })
}

// Sync makes the content of an open file durable.
func (c *Calls) Sync(fd int) error {
	return c.do("fsync", func() error { return ignoringEINTR(func() error { return syscall.Fsync(fd) }) },
		func() layer.Event { return layer.Event{Call: "fsync", File: inoOf(fd)} })
}

// SyncDir makes the names in a folder durable. Some file systems can't sync a
// folder and return an error, which is ignored.
func (c *Calls) SyncDir(fd int) error {
	err := c.do("fsyncdir", func() error { return ignoringEINTR(func() error { return syscall.Fsync(fd) }) },
		func() layer.Event { return layer.Event{Call: "fsyncdir", File: inoOf(fd)} })
	if err == unix.EINVAL || err == unix.ENOTSUP {
		return nil
	}
	return err
}

// CloseWritten closes a file after writing. Its error can be a delayed write error.
func (c *Calls) CloseWritten(fd int) error {
	injected := c.Inject("close")
	if err := syscall.Close(fd); err != nil && err != syscall.EINTR {
		return err
	}
	return injected
}

// Exchange swaps two names of a folder in one step.
func (c *Calls) Exchange(dir int, a, b string) error {
	return c.do("exchange", func() error { return unix.Renameat2(dir, a, dir, b, unix.RENAME_EXCHANGE) },
		between("exchange", dir, a, dir, b))
}

// RenameNoReplace renames an entry and never overwrites.
func (c *Calls) RenameNoReplace(fromDir int, from string, toDir int, to string) error {
	return c.do("rename", func() error { return unix.Renameat2(fromDir, from, toDir, to, unix.RENAME_NOREPLACE) },
		between("rename", fromDir, from, toDir, to))
}

// Link gives a file an additional name.
func (c *Calls) Link(fromDir int, from string, toDir int, to string) error {
	return c.do("link", func() error { return unix.Linkat(fromDir, from, toDir, to, 0) },
		between("link", fromDir, from, toDir, to))
}

// Unlink removes a name.
func (c *Calls) Unlink(dir int, name string, flags int) error {
	return c.do("unlink", func() error { return unix.Unlinkat(dir, name, flags) },
		func() layer.Event { return layer.Event{Call: "unlink", Dir: inoOf(dir), Name: name} })
}

// Mkdir makes a folder.
func (c *Calls) Mkdir(dir int, name string, mode uint32) error {
	return c.do("mkdir", func() error { return unix.Mkdirat(dir, name, mode) },
		func() layer.Event { return c.made("mkdir", dir, name) })
}

// Symlink makes a symlink.
func (c *Calls) Symlink(target string, dir int, name string) error {
	return c.do("symlink", func() error { return unix.Symlinkat(target, dir, name) },
		func() layer.Event { e := c.made("symlink", dir, name); e.Target = target; return e })
}

// made returns the event for a new entry.
func (c *Calls) made(call string, dir int, name string) layer.Event {
	info, _ := InfoAt(dir, name, 0) // zero on error
	return layer.Event{Call: call, Dir: inoOf(dir), Name: name, File: info.Ino, Mode: info.Mode}
}

// Rename replaces the entry at to, if it is a file.
func (c *Calls) Rename(fromDir int, from string, toDir int, to string) error {
	return c.do("rename", func() error { return unix.Renameat(fromDir, from, toDir, to) },
		between("rename", fromDir, from, toDir, to))
}

func (c *Calls) chown(fd int, uid, gid uint32) error {
	if err := c.Inject("chown"); err != nil {
		return err
	}
	return syscall.Fchown(fd, int(uid), int(gid))
}

// Chmod sets the mode of an open file.
func (c *Calls) Chmod(fd int, mode uint32) error {
	return c.do("chmod", func() error { return syscall.Fchmod(fd, mode) },
		func() layer.Event { return layer.Event{Call: "chmod", File: inoOf(fd), Mode: modeOf(mode)} })
}

func (c *Calls) setxattr(fd int, name string, value []byte) error {
	if err := c.Inject("setxattr"); err != nil {
		return err
	}
	return unix.Fsetxattr(fd, name, value, 0)
}

// InfoAt describes an entry without following symlinks.
func (c *Calls) InfoAt(dir int, name string) (file.Info, error) {
	if err := c.Inject("stat"); err != nil {
		return file.Info{}, err
	}
	return InfoAt(dir, name, 0)
}

// FDInfo describes an open file.
func (c *Calls) FDInfo(fd int) (file.Info, error) {
	if err := c.Inject("stat"); err != nil {
		return file.Info{}, err
	}
	return InfoOf(fd)
}

func ignoringEINTR(f func() error) error {
	for {
		if err := f(); err != syscall.EINTR {
			return err
		}
	}
}

// SetModTime sets the modification time of an open file: utimensat with a nil path, which
// x/sys lacks.
func (c *Calls) SetModTime(fd int, t time.Time) error {
	if err := c.Inject("utimens"); err != nil {
		return err
	}
	times := &[2]unix.Timespec{{Nsec: unix.UTIME_OMIT}, unix.NsecToTimespec(t.UnixNano())}
	_, _, e := syscall.Syscall6(unix.SYS_UTIMENSAT, uintptr(fd), 0, uintptr(unsafe.Pointer(times)), 0, 0, 0)
	if e != 0 {
		return e
	}
	return nil
}
