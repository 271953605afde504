// Package layer lets tests observe the system calls by which a root changes files, and make
// them fail.
//
// Without a layer, each of these calls costs a comparison with nil.
package layer

import (
	"io"
	"io/fs"
)

// Layer is between a root and the system. It observes the system calls of changes, can make
// them fail, and can simulate another boot of the machine. It is only used on Linux. The
// calls of one root are serialized, but may come from several goroutines.
type Layer struct {
	// Before is called with the name of a system call before it is made. If it returns
	// an error, the call fails with that error. ErrShort lets a write write half of its data
	// before it fails.
	Before func(call string) error
	// After is called with each finished call.
	After func(Event)
	// Ino, for a copy of a disk, returns the inode number on the original disk.
	Ino func(uint64) uint64
	// Boot, 8 hex digits, is the id of the boot that the names of temporary files
	// contain.
	Boot string
}

// ErrShort, returned by Layer.Before for a write, lets it write half of its data.
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
