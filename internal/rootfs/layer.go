package rootfs

import (
	"fmt"
	"io"
	"io/fs"
)

// Layer is between a Root and the system. It sees the system calls of changes,
// can make them fail, and can simulate another boot of the machine. It is for
// tests, of this package and of those above it; a Root without one pays a
// comparison with nil. Only Linux consults it. Its functions are called one at a
// time for each Root, but by several goroutines.
type Layer struct {
	// Before is called with the name of a system call before it is made. If it
	// returns an error, the call fails with it. ErrShort makes a write write only
	// half.
	Before func(call string) error
	// After is told what was done.
	After func(Event)
	// Ino returns the inode number that a file had on the disk of which this one
	// is a copy.
	Ino func(uint64) uint64
	// Boot, 8 hex digits, is the id of the boot that the names of temporary files
	// contain.
	Boot string
}

// inode is the number of a file to be used in names and records: its own, or the
// one that a Layer returns.
func (r *Root) inode(info Info) uint64 {
	if r.layer != nil && r.layer.Ino != nil {
		return r.layer.Ino(info.Ino)
	}
	return info.Ino
}

// Identity distinguishes a file from a later one with the same inode number, if
// the file system has birth times. The disks of a Layer are copies with new birth
// times.
func (r *Root) Identity(info Info) string {
	if r.layer != nil || info.BirthTime.IsZero() {
		return fmt.Sprint(r.inode(info))
	}
	return fmt.Sprintf("%d born %d", info.Ino, info.BirthTime.UnixNano())
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
