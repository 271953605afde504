//go:build unix && !linux

package rootfs

// unnamed: only Linux has users without a name.
func unnamed(uint32) bool { return false }
