//go:build linux

package linux

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Lease takes a read lease: the kernel notifies us before a program opens the file for
// writing. EAGAIN means that a program has it open already.
func Lease(fd int) error {
	_, err := unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_RDLCK)
	return err
}

// Unlease releases the lease.
func Unlease(fd int) {
	unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_UNLCK)
}

// LeaseHeld reports whether no program has tried to open the file since the lease was taken.
func LeaseHeld(fd int) bool {
	t, err := unix.FcntlInt(uintptr(fd), unix.F_GETLEASE, 0)
	return err == nil && t == unix.F_RDLCK
}

// LockDir keeps our processes from exchanging files in one folder at the same time: two rollbacks could leave
// the wrong version in place. It doesn't protect against other programs, and if one of them holds the lock, it
// gives up after about 5 s.
func LockDir(dir int) (unlock func()) {
	for wait := 50 * time.Microsecond; wait < time.Second; wait += wait / 4 {
		err := syscall.Flock(dir, syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { syscall.Flock(dir, syscall.LOCK_UN) }
		}
		if err != syscall.EWOULDBLOCK && err != syscall.EINTR {
			break
		}
		time.Sleep(wait)
	}
	return func() {}
}
