package lock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockAt is the offset of the locked byte. Locks are mandatory on Windows, so it is far
// beyond any content, which others may then read.
const lockAt = 1 << 30

// Take locks f, shared or exclusive. Without wait it reports false if another
// process has a lock that forbids it.
func Take(f *os.File, exclusive, wait bool) (bool, error) {
	var flags uint32
	if exclusive {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	if !wait {
		flags |= windows.LOCKFILE_FAIL_IMMEDIATELY
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{OffsetHigh: lockAt})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) && !wait {
		return false, nil
	}
	return err == nil, err
}

// Release releases the lock.
func Release(f *os.File) error {
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &windows.Overlapped{OffsetHigh: lockAt})
}
