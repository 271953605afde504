//go:build linux && !portable

package rootfs

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// place is of the open folder.
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

// leadsHere reports whether a real folder stands at an absolute path and is the
// open one.
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
