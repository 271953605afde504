package mounts

import "golang.org/x/sys/unix"

// IsOverlay reports whether a folder is on an overlay. A write to the underlying folders causes no event in the
// overlay, and the result of a later read is undefined.
func IsOverlay(dir string) bool {
	var st unix.Statfs_t
	return unix.Statfs(dir, &st) == nil && uint32(st.Type) == unix.OVERLAYFS_SUPER_MAGIC
}
