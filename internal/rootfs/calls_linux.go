//go:build linux && !portable

package rootfs

import (
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// call names a system call for fault injection.
type call string

// inject lets a test fail the system call about to be made. Without a test it
// costs a comparison with nil.
func (r *Root) inject(c call) error {
	if r.sys.hook == nil {
		return nil
	}
	return r.sys.hook(c)
}

// The system calls of changes, each a place where a test can make it fail.
const (
	callCreate   call = "create"
	callOpen     call = "open"
	callRead     call = "read"
	callWrite    call = "write"
	callChown    call = "chown"
	callChmod    call = "chmod"
	callXattr    call = "setxattr"
	callTruncate call = "truncate"
	callSync     call = "fsync"
	callSyncDir  call = "fsyncdir"
	callClose    call = "close"
	callRename   call = "rename"
	callExchange call = "exchange"
	callLink     call = "link"
	callUnlink   call = "unlink"
	callMkdir    call = "mkdir"
	callStat     call = "stat"
	callSymlink  call = "symlink"
	callTimes    call = "utimens"
	callList     call = "list"
)

// report reports what was done to the listener, if there is one.
func (r *Root) report(e func() Event) {
	if r.sys.after != nil {
		r.sys.after(e())
	}
}

// inoOf is for a listener: the number of an open file or folder.
func inoOf(fd int) uint64 {
	info, err := infoAt(fd, "", unix.AT_EMPTY_PATH)
	if err != nil {
		return 0
	}
	return info.Ino
}

// create makes a new file; it never opens an existing one.
func (r *Root) create(dir int, name string, mode uint32) (int, error) {
	if err := r.inject(callCreate); err != nil {
		return -1, err
	}
	return r.createWith(dir, name, unix.O_RDWR, mode)
}

func (r *Root) createWith(dir int, name string, flags int, mode uint32) (int, error) {
	fd, err := openat(dir, name, flags|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, mode)
	if err == nil {
		r.report(func() Event { return r.made("create", dir, name) })
	}
	return fd, err
}

func (r *Root) openName(dir int, name string, flags int) (int, error) {
	if err := r.inject(callOpen); err != nil {
		return -1, err
	}
	return openat(dir, name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
}

func (r *Root) pread(fd int, b []byte, off int64) (int, error) {
	if err := r.inject(callRead); err != nil {
		return 0, err
	}
	return preadFD(fd, b, off)
}

// pwriteAll writes all of b at off.
func (r *Root) pwriteAll(fd int, b []byte, off int64) error {
	for len(b) > 0 {
		part := b[:min(len(b), maxIO)]
		if err := r.inject(callWrite); err == ErrShort {
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
		r.report(func() Event { return Event{Call: "write", File: inoOf(fd), Off: off, Data: part[:n]} })
		b, off = b[n:], off+int64(n)
	}
	return nil
}

func (r *Root) truncate(fd int, size int64) error {
	if err := r.inject(callTruncate); err != nil {
		return err
	}
	err := ignoringEINTR(func() error { return syscall.Ftruncate(fd, size) })
	if err == nil {
		r.report(func() Event { return Event{Call: "truncate", File: inoOf(fd), Size: size} })
	}
	return err
}

func (r *Root) sync(fd int) error {
	if err := r.inject(callSync); err != nil {
		return err
	}
	err := ignoringEINTR(func() error { return syscall.Fsync(fd) })
	if err == nil {
		r.report(func() Event { return Event{Call: "fsync", File: inoOf(fd)} })
	}
	return err
}

// syncDir makes the names in a folder durable. Some file systems can't sync a
// folder and return an error, which is ignored.
func (r *Root) syncDir(fd int) error {
	if err := r.inject(callSyncDir); err != nil {
		return err
	}
	err := ignoringEINTR(func() error { return syscall.Fsync(fd) })
	if err == nil {
		r.report(func() Event { return Event{Call: "fsyncdir", File: inoOf(fd)} })
	}
	if err == unix.EINVAL || err == unix.ENOTSUP {
		return nil
	}
	return err
}

// closeWritten closes a file we wrote to; its error can be a late write error.
func (r *Root) closeWritten(fd int) error {
	injected := r.inject(callClose)
	if err := syscall.Close(fd); err != nil && err != syscall.EINTR {
		return err
	}
	return injected
}

func (r *Root) exchange(dir int, a, b string) error {
	if err := r.inject(callExchange); err != nil {
		return err
	}
	err := unix.Renameat2(dir, a, dir, b, unix.RENAME_EXCHANGE)
	if err == nil {
		r.report(func() Event { return Event{Call: "exchange", Dir: inoOf(dir), Name: a, ToDir: inoOf(dir), ToName: b} })
	}
	return err
}

// renameNoReplace moves a name and never overwrites.
func (r *Root) renameNoReplace(fromDir int, from string, toDir int, to string) error {
	if err := r.inject(callRename); err != nil {
		return err
	}
	err := unix.Renameat2(fromDir, from, toDir, to, unix.RENAME_NOREPLACE)
	if err == nil {
		r.report(func() Event {
			return Event{Call: "rename", Dir: inoOf(fromDir), Name: from, ToDir: inoOf(toDir), ToName: to}
		})
	}
	return err
}

func (r *Root) link(fromDir int, from string, toDir int, to string) error {
	if err := r.inject(callLink); err != nil {
		return err
	}
	err := unix.Linkat(fromDir, from, toDir, to, 0)
	if err == nil {
		r.report(func() Event {
			return Event{Call: "link", Dir: inoOf(fromDir), Name: from, ToDir: inoOf(toDir), ToName: to}
		})
	}
	return err
}

func (r *Root) unlink(dir int, name string, flags int) error {
	if err := r.inject(callUnlink); err != nil {
		return err
	}
	err := unix.Unlinkat(dir, name, flags)
	if err == nil {
		r.report(func() Event { return Event{Call: "unlink", Dir: inoOf(dir), Name: name} })
	}
	return err
}

func (r *Root) mkdir(dir int, name string, mode uint32) error {
	if err := r.inject(callMkdir); err != nil {
		return err
	}
	err := unix.Mkdirat(dir, name, mode)
	if err == nil {
		r.report(func() Event { return r.made("mkdir", dir, name) })
	}
	return err
}

func (r *Root) symlink(target string, dir int, name string) error {
	if err := r.inject(callSymlink); err != nil {
		return err
	}
	err := unix.Symlinkat(target, dir, name)
	if err == nil {
		r.report(func() Event { e := r.made("symlink", dir, name); e.Target = target; return e })
	}
	return err
}

// made describes an entry that was just made.
func (r *Root) made(call string, dir int, name string) Event {
	info, _ := infoAt(dir, name, 0) // only for a listener, who sees zero
	return Event{Call: call, Dir: inoOf(dir), Name: name, File: info.Ino, Mode: info.Mode}
}

// rename replaces what is at to, if it is a file.
func (r *Root) rename(fromDir int, from string, toDir int, to string) error {
	if err := r.inject(callRename); err != nil {
		return err
	}
	err := unix.Renameat(fromDir, from, toDir, to)
	if err == nil {
		r.report(func() Event {
			return Event{Call: "rename", Dir: inoOf(fromDir), Name: from, ToDir: inoOf(toDir), ToName: to}
		})
	}
	return err
}

func (r *Root) chown(fd int, uid, gid uint32) error {
	if err := r.inject(callChown); err != nil {
		return err
	}
	return syscall.Fchown(fd, int(uid), int(gid))
}

func (r *Root) chmod(fd int, mode uint32) error {
	if err := r.inject(callChmod); err != nil {
		return err
	}
	err := syscall.Fchmod(fd, mode)
	if err == nil {
		r.report(func() Event { return Event{Call: "chmod", File: inoOf(fd), Mode: modeOf(mode)} })
	}
	return err
}

func (r *Root) setxattr(fd int, name string, value []byte) error {
	if err := r.inject(callXattr); err != nil {
		return err
	}
	return unix.Fsetxattr(fd, name, value, 0)
}

func (r *Root) infoAt(dir int, name string) (Info, error) {
	if err := r.inject(callStat); err != nil {
		return Info{}, err
	}
	return infoAt(dir, name, 0)
}

func (r *Root) fdInfo(fd int) (Info, error) {
	if err := r.inject(callStat); err != nil {
		return Info{}, err
	}
	return infoAt(fd, "", unix.AT_EMPTY_PATH)
}

func ignoringEINTR(f func() error) error {
	for {
		if err := f(); err != syscall.EINTR {
			return err
		}
	}
}

// place is a name in an open folder. Changes work on places, because the open
// folder stays the same even if its path changes.
type place struct {
	dir  int
	name string
	path Path
}

// place opens the folder of p, which is not the root.
func (r *Root) place(op string, p Path) (place, error) {
	var at place
	err := r.retry(op, &p, func(rel string) error {
		q := Path{rel}
		if err := r.inject(callOpen); err != nil {
			return err
		}
		dir, err := r.sys.openRel(q.Dir().s, flagsDir)
		at = place{dir, q.Base(), q}
		return err
	})
	return at, err
}

func (at place) close() { syscall.Close(at.dir) }

// setModTime sets the time of last change of an open file. x/sys has no such
// call. A nil path means the handle itself.
func (r *Root) setModTime(fd int, t time.Time) error {
	if err := r.inject(callTimes); err != nil {
		return err
	}
	times := &[2]unix.Timespec{{Nsec: unix.UTIME_OMIT}, unix.NsecToTimespec(t.UnixNano())}
	_, _, e := syscall.Syscall6(unix.SYS_UTIMENSAT, uintptr(fd), 0, uintptr(unsafe.Pointer(times)), 0, 0, 0)
	if e != 0 {
		return e
	}
	return nil
}

// drop removes a temporary file. If that fails, it is tried again when the root
// is closed.
func (r *Root) drop(at place, name string) {
	if err := r.unlink(at.dir, name, 0); err != nil && err != unix.ENOENT {
		r.temps.leave(at.path.Dir())
	}
}

// again opens the folder a second time, for a caller that closes it.
func (at place) again() (place, error) {
	fd, err := openat(at.dir, ".", flagsDir, 0)
	at.dir = fd
	return at, err
}
