// Package file defines a system's description of the entries of a folder, and its reasons for refusing to
// open one, in terms that every system shares.
//
// The package opens nothing.
package file

import (
	"errors"
	"io/fs"
	"time"
)

// Type is the kind of an entry.
type Type uint8

const (
	TypeUnknown Type = iota
	TypeFile         // a regular file
	TypeDir
	TypeSymlink
	TypeOther // FIFO, socket, device
)

func (t Type) String() string {
	return [...]string{"unknown", "file", "dir", "symlink", "other"}[t]
}

// Entry is one name in a folder. The names of one listing share memory, so clone a name
// that is kept for long.
type Entry struct {
	Name string
	Ino  uint64 // 0 if unknown
	Type Type
	// Ignored is set by walks that list ignored entries. A listing leaves it false.
	Ignored bool
}

// Info describes a file. Fields the system doesn't know are zero.
type Info struct {
	Type       Type
	Mode       fs.FileMode // permissions, setuid, setgid, sticky
	Size       int64
	ModTime    time.Time
	ChangeTime time.Time // of the inode; changed by every write, chmod and rename
	BirthTime  time.Time // zero if unknown
	Ino, Dev   uint64
	Nlink      uint32
	UID, GID   uint32
}

// SameFile reports whether two infos describe the same object on disk.
func (a Info) SameFile(b Info) bool { return a.Ino == b.Ino && a.Dev == b.Dev && a.Ino != 0 }

// FSKind says whether the events and locks of a file system can be trusted.
type FSKind uint8

const (
	FSUnknown FSKind = iota
	FSLocal          // all changes come through this machine's kernel
	FSNetwork        // other machines may change files without an event
)

func (k FSKind) String() string { return [...]string{"unknown", "local", "network"}[k] }

// Errors returned on every system when an entry is opened or changed.
var (
	ErrSwapped    = errors.New("a folder was replaced by a symlink")
	ErrNotRegular = errors.New("not a regular file")
	ErrBusy       = errors.New("another program has the file open for writing")
	ErrVersion    = errors.New("the file is not the expected version")
	ErrMeanwhile  = errors.New("the file was changed while it was being replaced")
	ErrVerifyCopy = errors.New("the copy on the other file system differs from the original")
	ErrNoExchange = errors.New("this file system can't exchange files")
)
