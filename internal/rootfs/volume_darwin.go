package rootfs

import "golang.org/x/sys/unix"

// localVolume reports whether an open file is on a disk of this machine. On a
// network's volume others change files unseen.
func localVolume(fd int) bool {
	var st unix.Statfs_t
	return unix.Fstatfs(fd, &st) == nil && st.Flags&unix.MNT_LOCAL != 0
}
