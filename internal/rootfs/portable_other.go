//go:build (!linux && !darwin && !windows) || (linux && portable)

package rootfs

import (
	"io/fs"
	"syscall"
)

const openNonblock = syscall.O_NONBLOCK

func fillInfo(i *Info, fi fs.FileInfo) {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		i.Ino, i.Dev, i.Nlink, i.UID, i.GID = uint64(st.Ino), uint64(st.Dev), uint32(st.Nlink), st.Uid, st.Gid
	}
}

// FSKind is not known here.
func (r *Root) FSKind() FSKind { return FSUnknown }
