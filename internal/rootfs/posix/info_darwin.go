package posix

import (
	"io/fs"
	"syscall"
	"time"

	"quarry/internal/rootfs/file"
)

const openNonblock = syscall.O_NONBLOCK

func fillInfo(i *file.Info, fi fs.FileInfo) {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return
	}
	i.Ino, i.Dev, i.Nlink, i.UID, i.GID = st.Ino, uint64(st.Dev), uint32(st.Nlink), st.Uid, st.Gid
	i.ChangeTime = time.Unix(st.Ctimespec.Unix())
	i.BirthTime = time.Unix(st.Birthtimespec.Unix())
}
