//go:build darwin || (linux && portable)

package rootfs

import "quarry/internal/rootfs/posix"

// localHandle returns the handle of the open file and whether the file is on a local
// disk. On other disks it may change unnoticed.
func (f *File) localHandle() (fd int, local bool) {
	fd = int(f.f.Fd())
	return fd, posix.LocalVolume(fd)
}
