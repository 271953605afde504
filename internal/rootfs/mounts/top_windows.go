package mounts

import (
	"path/filepath"

	"golang.org/x/sys/windows"

	"quarry/internal/rootfs"
)

// Top returns the top of the volume that contains dir, an absolute path without links: a
// drive, a share, or a folder on which a volume is mounted.
func Top(dir string) (string, error) {
	u, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return "", rootfs.Wrap("stat", dir, err)
	}
	buf := make([]uint16, len(dir)+windows.MAX_PATH)
	if err := windows.GetVolumePathName(u, &buf[0], uint32(len(buf))); err != nil {
		return "", rootfs.Wrap("stat", dir, err)
	}
	return filepath.Clean(windows.UTF16ToString(buf)), nil
}
