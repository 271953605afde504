package rootfs

import (
	"io/fs"
	"syscall"
	"time"
)

const openNonblock = 0

func fillInfo(i *Info, fi fs.FileInfo) {
	if st, ok := fi.Sys().(*syscall.Win32FileAttributeData); ok {
		i.BirthTime = time.Unix(0, st.CreationTime.Nanoseconds())
	}
}
