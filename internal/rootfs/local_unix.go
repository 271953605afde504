//go:build darwin || (linux && portable)

package rootfs

import "quarry/internal/rootfs/posix"

// localHandle is the number of the open file, and whether the file is on a disk of
// this machine: elsewhere others change files unseen.
func (f *File) localHandle() (fd int, local bool) {
	fd = int(f.f.Fd())
	return fd, posix.LocalVolume(fd)
}
