//go:build unix

package doctor

import (
	"cmp"

	"golang.org/x/sys/unix"
)

// unwritable returns an error if the system would not let this process change a folder.
// It checks the mode, the owner and whether the volume is mounted read-only. If possible,
// it also writes in a way that leaves no trace.
func unwritable(dir string) error { return cmp.Or(unix.Access(dir, unix.W_OK), tryWrite(dir)) }

// isOurs reports whether a folder belongs to the user.
func isOurs(dir string) bool {
	var at unix.Stat_t
	return unix.Stat(dir, &at) == nil && int(at.Uid) == unix.Geteuid()
}

// roomOn returns how many bytes the user may still write on the volume that contains dir,
// and the volume's id.
func roomOn(dir string) (bytes int64, volume uint64, ok bool) {
	var s unix.Statfs_t
	var at unix.Stat_t
	if unix.Statfs(dir, &s) != nil || unix.Stat(dir, &at) != nil {
		return 0, 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), uint64(at.Dev), true
}
