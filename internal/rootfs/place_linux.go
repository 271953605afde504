//go:build linux && !portable

package rootfs

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"quarry/internal/rootfs/linux"
)

// place identifies the open folder.
func (s *sysRoot) place() (Place, error) {
	if err := s.acquire(); err != nil {
		return Place{}, err
	}
	defer s.release()
	var st unix.Stat_t
	if err := unix.Fstat(s.fd, &st); err != nil {
		return Place{}, err
	}
	return Place{uint64(st.Dev), st.Ino}, nil
}

// follow replaces the open folder by the folder at a path. The file descriptor keeps its
// number, so concurrent calls use one folder or the other.
func (s *sysRoot) follow(dir string) error {
	if err := s.acquire(); err != nil {
		return err
	}
	defer s.release()
	fd, err := syscall.Open(dir, linux.FlagsDir, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: dir, Err: err}
	}
	defer syscall.Close(fd)
	var old, now unix.Stat_t
	if err := unix.Fstat(s.fd, &old); err != nil {
		return err
	}
	if err := unix.Fstat(fd, &now); err != nil {
		return err
	}
	if old.Uid != now.Uid {
		return errOtherUser
	}
	if err := unix.Dup3(fd, s.fd, unix.O_CLOEXEC); err != nil {
		return err
	}
	s.setKind()
	return nil
}

// leadsHere reports whether an absolute path leads to the open folder and is not a symlink.
func (s *sysRoot) leadsHere(dir string) (bool, error) {
	var st unix.Stat_t
	if err := unix.Lstat(dir, &st); err != nil {
		return false, &os.PathError{Op: "stat", Path: dir, Err: err}
	}
	if st.Mode&syscall.S_IFMT != syscall.S_IFDIR {
		return false, &os.PathError{Op: "stat", Path: dir, Err: syscall.ENOTDIR}
	}
	here, err := s.place()
	return here == Place{uint64(st.Dev), st.Ino}, err
}

// place is a name in an open folder. Changes use places, because an open folder stays the
// same even if its path changes.
type place struct {
	dir  int
	name string
	path Path
}

// place opens the folder of p. p is not the root.
func (r *Root) place(op string, p Path) (place, error) {
	var at place
	err := r.retry(op, &p, func(rel string) error {
		q := Path{rel}
		if err := r.sys.Inject("open"); err != nil {
			return err
		}
		dir, err := r.sys.openRel(q.Dir().s, linux.FlagsDir)
		at = place{dir, q.Base(), q}
		return err
	})
	if err == nil && len(r.own) > 0 {
		here, _ := linux.InfoAt(at.dir, at.name, 0) // zero if it doesn't exist
		if err = r.notOwn(op, &folder{Calls: &r.sys.Calls, FD: at.dir}, at.path, here); err != nil {
			at.close()
		}
	}
	return at, err
}

func (at place) close() { syscall.Close(at.dir) }

// drop removes a temporary file. If that fails, closing the root tries again.
func (r *Root) drop(at place, name string) {
	if err := r.sys.Unlink(at.dir, name, 0); err != nil && err != unix.ENOENT {
		r.temps.leave(at.path.Dir())
	}
}

// again opens the folder a second time, for a caller that closes it.
func (at place) again() (place, error) {
	fd, err := linux.Openat(at.dir, ".", linux.FlagsDir, 0)
	at.dir = fd
	return at, err
}
