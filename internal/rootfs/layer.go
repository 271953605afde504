package rootfs

import (
	"fmt"
	"io"
	"io/fs"
)

// Layer stands between a Root and the system: it sees the calls of changes,
// can fail them, and can pretend to another boot of the machine. It is for
// tests, of this package and of those above it; a Root without one pays a
// comparison with nil. Only Linux consults it. Its functions are called one at
// a time for each Root, but by several goroutines.
type Layer struct {
	// Before is told the name of a call that is about to be made; the call
	// fails with what it returns. ErrShort lets a write write half.
	Before func(call string) error
	// After is told what was done.
	After func(Event)
	// Ino gives the number a file had on the disk this one is a copy of.
	Ino func(uint64) uint64
	// Boot, 8 hex digits, is the boot that temporary files are said to be of.
	Boot string
}

// inode is the number of a file as it may stand in a name or a record: its own,
// or what a Layer says.
func (r *Root) inode(info Info) uint64 {
	if r.layer != nil && r.layer.Ino != nil {
		return r.layer.Ino(info.Ino)
	}
	return info.Ino
}

// Identity tells a file from others that have its number later, where the file
// system knows when it was born. A Layer's disks are copies, born anew.
func (r *Root) Identity(info Info) string {
	if r.layer != nil || info.BirthTime.IsZero() {
		return fmt.Sprint(r.inode(info))
	}
	return fmt.Sprintf("%d born %d", info.Ino, info.BirthTime.UnixNano())
}

// ErrShort, returned by Layer.Before for a write, makes it write half.
var ErrShort = io.ErrShortWrite

// Event is one change of the disk, as the system was asked for it.
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
