//go:build !linux || portable

package rootfs

import (
	"os"
	"path/filepath"
)

// RenameInto is RenameTo for callers that must not copy: it moves the entry at
// from into another root by one rename, never overwriting, and fails with an
// error that is syscall.EXDEV where only a copy would do. Systems whose rename
// needs paths rather than open folders count as such.
func (r *Root) RenameInto(from Path, dst *Root, to Path) error {
	const op = "rename"
	if err := r.editable(op, from, true); err != nil {
		return err
	}
	info, err := r.Stat(from)
	if err != nil {
		return err
	}
	if err := dst.editable(op, to, info.Type == TypeDir); err != nil {
		return err
	}
	err = r.in(op, from, func(src *os.Root, name string) error {
		return dst.in(op, to, func(dir *os.Root, base string) error {
			if err := renameBetween(src, name, dir, base); err != nil {
				return err
			}
			if err := syncFolder(dir); err != nil {
				return err
			}
			return syncFolder(src)
		})
	})
	return wrap(op, to.String(), err)
}

// TopDir returns the top of the mounted volume that holds dir, an absolute path
// without symlinks. Where devices have no numbers it is the top of the tree.
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

// MountsBeneath is not known here.
func MountsBeneath(string) ([]string, error) { return nil, nil }
