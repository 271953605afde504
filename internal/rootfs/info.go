package rootfs

import "quarry/internal/rootfs/file"

// These types describe an entry; see package file.
type (
	Type   = file.Type
	Entry  = file.Entry
	Info   = file.Info
	FSKind = file.FSKind
)

// The types of entries.
const (
	TypeUnknown = file.TypeUnknown
	TypeFile    = file.TypeFile
	TypeDir     = file.TypeDir
	TypeSymlink = file.TypeSymlink
	TypeOther   = file.TypeOther
)

// The kinds of file systems.
const (
	FSUnknown = file.FSUnknown
	FSLocal   = file.FSLocal
	FSNetwork = file.FSNetwork
)

// ErrClosed is returned for every use of a Root after Close.
var ErrClosed = file.ErrClosed
