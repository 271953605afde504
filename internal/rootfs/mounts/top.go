//go:build unix

package mounts

import (
	"path/filepath"

	"quarry/internal/rootfs"
)

// Top returns the top of the mounted volume that holds dir, an absolute path
// without symlinks. On Linux a bind mount is a volume of its own: nothing can be
// renamed out of it.
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
