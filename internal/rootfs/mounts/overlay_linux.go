package mounts

import "golang.org/x/sys/unix"

// IsOverlay reports whether a folder is on an overlay. A write to the folders beneath the mount makes no
// event in it, and the kernel does not define the result of a read.
func IsOverlay(dir string) bool {
	var st unix.Statfs_t
	return unix.Statfs(dir, &st) == nil && uint32(st.Type) == unix.OVERLAYFS_SUPER_MAGIC
}
