//go:build linux

package linux

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Lease asks the kernel to be told before anyone opens the file for writing.
// EAGAIN means that someone has it open already.
func Lease(fd int) error {
	_, err := unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_RDLCK)
	return err
}

// Unlease gives the lease back.
func Unlease(fd int) {
	unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_UNLCK)
}

// LeaseHeld reports whether no program has tried to open the file since the lease was taken.
func LeaseHeld(fd int) bool {
	t, err := unix.FcntlInt(uintptr(fd), unix.F_GETLEASE, 0)
	return err == nil && t == unix.F_RDLCK
}

// LockDir keeps several of our processes from exchanging in one folder at the same time: two that roll back
// could otherwise leave the wrong version in place. It doesn't protect against other programs, so it doesn't
// wait forever for a lock that one of them holds on the folder.
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
