//go:build linux && !portable

package rootfs

import (
	"os"

	"golang.org/x/sys/unix"
)

func (r *Root) openLog(p Path, create bool) (*os.File, error) {
	at, err := r.place("open", p)
	if err != nil {
		return nil, err
	}
	defer at.close()
	const flags = unix.O_RDWR | unix.O_APPEND | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	for {
		fd, err := r.sys.OpenName(at.dir, at.name, flags)
		if !create && (err == unix.EROFS || err == unix.EACCES) { // read-only, but it can be locked
			fd, err = r.sys.OpenName(at.dir, at.name, flags&^unix.O_ACCMODE|unix.O_RDONLY)
		}
		if err != unix.ENOENT || !create {
			if err != nil {
				return nil, err
			}
			return os.NewFile(uintptr(fd), p.String()), nil
		}
		if err = r.sys.Inject("create"); err == nil {
			fd, err = r.sys.CreateWith(at.dir, at.name, flags, 0o600)
		}
		if err == unix.EEXIST {
			continue // another process created it: open that one
		}
		if err != nil {
			return nil, err
		}
		unix.Fchmod(fd, 0o600) // the umask may have removed the owner's permissions
		f := os.NewFile(uintptr(fd), p.String())
		if err := r.sys.SyncDir(at.dir); err != nil {
			f.Close()
			return nil, err
		}
		return f, nil
	}
}

// appendLog writes b at the end, which is at size.
func (r *Root) appendLog(f *os.File, b []byte, size int64) error {
	// On a file opened with O_APPEND, pwrite appends regardless of the offset.
	return withFD(f, func(fd int) error { return r.sys.PwriteAll(fd, b, size) })
}

func (r *Root) truncateLog(f *os.File, size int64) error {
	return withFD(f, func(fd int) error { return r.sys.Truncate(fd, size) })
}

func (r *Root) syncLog(f *os.File) error {
	return withFD(f, func(fd int) error { return r.sys.Sync(fd) })
}

// withFD calls do with the handle, which can't be closed during the call.
func withFD(f *os.File, do func(fd int) error) error {
	c, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var done error
	if err := c.Control(func(fd uintptr) { done = do(int(fd)) }); err != nil {
		return err
	}
	return done
}
