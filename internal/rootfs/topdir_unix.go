//go:build (unix && !linux) || (linux && portable)

package rootfs

import (
	"os"
	"path/filepath"
)

// TopDir returns the top of the mounted volume that holds dir, an absolute path
// without symlinks.
func TopDir(dir string) (string, error) {
	here, err := os.Lstat(dir)
	if err != nil {
		return "", wrap("stat", dir, err)
	}
	for {
		up := filepath.Dir(dir)
		if up == dir {
			return dir, nil
		}
		there, err := os.Lstat(up)
		if err != nil {
			return "", wrap("stat", up, err)
		}
		if infoOfFile(there).Dev != infoOfFile(here).Dev {
			return dir, nil
		}
		dir = up
	}
}
