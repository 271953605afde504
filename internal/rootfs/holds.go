package rootfs

import (
	"os"
	"path/filepath"
)

// Holds reports whether dir, an absolute path or one relative to the current folder, is
// the root's folder or beneath it. If the path doesn't exist yet, its existing part
// decides.
func (r *Root) Holds(dir string) (bool, error) {
	top, err := os.Stat(r.real)
	if err != nil {
		return false, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return false, err
	}
	for real := ""; real == ""; {
		if real, err = filepath.EvalSymlinks(dir); err == nil {
			dir = real
		} else if up := filepath.Dir(dir); up != dir {
			dir = up
		} else {
			return false, err
		}
	}
	for {
		if info, err := os.Stat(dir); err == nil && os.SameFile(info, top) {
			return true, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return false, nil
		}
		dir = up
	}
}
