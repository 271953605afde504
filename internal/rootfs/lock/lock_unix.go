//go:build unix

package lock

import (
	"os"
	"syscall"
)

// Take locks f, shared or exclusive. Without wait it reports false if another
// process has a lock that forbids it.
func Take(f *os.File, exclusive, wait bool) (bool, error) {
	how := syscall.LOCK_SH
	if exclusive {
		how = syscall.LOCK_EX
	}
	if !wait {
		how |= syscall.LOCK_NB
	}
	for {
		err := flock(f, how)
		switch {
		case err == nil:
			return true, nil
		case err == syscall.EINTR:
		case err == syscall.EWOULDBLOCK && !wait:
			return false, nil
		default:
			return false, err
		}
	}
}

// Release releases the lock.
func Release(f *os.File) error { return flock(f, syscall.LOCK_UN) }

// flock uses SyscallConn, because otherwise, if f is closed at the same time, the lock could
// be taken on another file that gets the same descriptor.
func flock(f *os.File, how int) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var got error
	if err := raw.Control(func(fd uintptr) { got = syscall.Flock(int(fd), how) }); err != nil {
		return err
	}
	return got
}
