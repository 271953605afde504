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

// Entry is one name in a folder. The names of one listing share memory, so
// keeping one name keeps its neighbours: clone what lives long.
type Entry struct {
	Name string
	Ino  uint64 // 0 where the system doesn't tell
	Type Type
	// Ignored is set by walks that list what ignore rules exclude; a listing
	// leaves it false.
	Ignored bool
}

// Info describes a file. Fields the system doesn't know are zero.
type Info struct {
	Type       Type
	Mode       fs.FileMode // permissions, setuid, setgid, sticky
	Size       int64
	ModTime    time.Time
	ChangeTime time.Time // of the inode; moved by every write, chmod, rename
	BirthTime  time.Time // zero where the file system has none
	Ino, Dev   uint64
	Nlink      uint32
	UID, GID   uint32
}

// SameFile reports whether two infos describe the same object on disk.
func (a Info) SameFile(b Info) bool { return a.Ino == b.Ino && a.Dev == b.Dev && a.Ino != 0 }

// FSKind tells how far the file system's events and locks can be trusted.
type FSKind uint8

const (
	FSUnknown FSKind = iota
	FSLocal          // all changes come through this machine's kernel
	FSNetwork        // others may change files unseen
)

func (k FSKind) String() string { return [...]string{"unknown", "local", "network"}[k] }

// Errors that every system returns when it opens or changes an entry.
var (
	ErrSwapped    = errors.New("a folder was replaced by a symlink")
	ErrNotRegular = errors.New("not a regular file")
	ErrBusy       = errors.New("another program has the file open for writing")
	ErrVersion    = errors.New("the file is not the expected version")
	ErrMeanwhile  = errors.New("the file was changed while it was being replaced")
	ErrVerifyCopy = errors.New("the copy on the other file system differs from the original")
	ErrNoExchange = errors.New("this file system can't exchange files")
)
