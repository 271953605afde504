package rootfs

import (
	"fmt"

	"quarry/internal/rootfs/layer"
)

// Layer is for tests of this package and of higher ones.
type Layer = layer.Layer

// inode returns the inode number of a file for names and records: its own, or the number
// from a Layer.
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
