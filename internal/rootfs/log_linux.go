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
		fd, err := r.openName(at.dir, at.name, flags)
		if err != unix.ENOENT || !create {
			if err != nil {
				return nil, err
			}
			return os.NewFile(uintptr(fd), p.String()), nil
		}
		fd, err = openat(at.dir, at.name, flags|unix.O_CREAT|unix.O_EXCL, 0o600)
		if err == unix.EEXIST {
			continue // someone was faster: open theirs
		}
		if err != nil {
			return nil, err
		}
		f := os.NewFile(uintptr(fd), p.String())
		if err := r.syncDir(at.dir); err != nil {
			f.Close()
			return nil, err
		}
		return f, nil
	}
}
