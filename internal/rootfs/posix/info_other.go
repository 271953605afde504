//go:build unix && !darwin

package posix

import (
	"io/fs"
	"syscall"

	"quarry/internal/rootfs/file"
)

const openNonblock = syscall.O_NONBLOCK

func fillInfo(i *file.Info, fi fs.FileInfo) {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		i.Ino, i.Dev, i.Nlink, i.UID, i.GID = uint64(st.Ino), uint64(st.Dev), uint32(st.Nlink), st.Uid, st.Gid
	}
}

// FSKind is unknown on this system.
func (d *Folder) FSKind() file.FSKind { return file.FSUnknown }
