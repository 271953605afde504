//go:build unix

package mounts

import (
	"path/filepath"

	"quarry/internal/rootfs"
)

// Top returns the mount point of the volume that contains dir, an absolute path without
// symlinks. On Linux a bind mount is a separate volume, because entries can't be renamed
// across it.
func Top(dir string) (string, error) {
	here, err := volumeOf(dir)
	if err != nil {
		return "", rootfs.Wrap("stat", dir, err)
	}
	for {
		up := filepath.Dir(dir)
		if up == dir {
			return dir, nil
		}
		there, err := volumeOf(up)
		if err != nil {
			return "", rootfs.Wrap("stat", up, err)
		}
		if there != here {
			return dir, nil
		}
		dir = up
	}
}
