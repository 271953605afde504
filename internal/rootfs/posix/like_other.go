//go:build unix && !darwin

package posix

import (
	"os"

	"quarry/internal/rootfs/file"
)

// CreateLike makes an empty file with the mode and owner of old. kept is false if the owner
// can't be set; then old must be rewritten in place.
func (d *Folder) CreateLike(name string, _ *os.File, _ string, info file.Info) (f *os.File, kept bool, err error) {
	if f, err = d.Create(name, 0o600); err != nil {
		return nil, false, err
	}
	if kept = giveTo(f, info); kept {
		err = f.Chmod(info.Mode)
	}
	if err != nil || !kept {
		f.Close()
		d.Remove(name)
		return nil, false, err
	}
	return f, true, nil
}
