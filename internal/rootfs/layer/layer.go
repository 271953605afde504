// Package layer is a test's hook between a root and the system. It sees the
// system calls of changes and can make them fail.
//
// A root without a layer pays a comparison with nil for each of these calls.
package layer

import (
	"io"
	"io/fs"
)

// Layer is between a root and the system. It sees the system calls of changes,
// can make them fail, and can simulate another boot of the machine. Only Linux
// consults it. Its functions are called one at a time for each root, but by
// several goroutines.
type Layer struct {
	// Before is called with the name of a system call before it is made. If it
	// returns an error, the call fails with it. ErrShort makes a write write only
	// half.
	Before func(call string) error
	// After is called with each finished call.
	After func(Event)
	// Ino returns the inode number of the original, on a disk of which this one is a copy.
	Ino func(uint64) uint64
	// Boot, 8 hex digits, is the id of the boot that the names of temporary files
	// contain.
	Boot string
}

// ErrShort, returned by Layer.Before for a write, makes it write half.
var ErrShort = io.ErrShortWrite

// Event is one requested change of the disk.
type Event struct {
	Call         string // create, write, truncate, chmod, fsync, fsyncdir, rename, exchange, link, unlink, mkdir, symlink
	Dir, ToDir   uint64 // folders, by their inode
	Name, ToName string
	File         uint64 // the inode created, linked, written or synced
	Off          int64
	Data         []byte // of a write; only until After returns
	Size         int64  // of a truncate
	Mode         fs.FileMode
	Target       string // of a symlink
}
