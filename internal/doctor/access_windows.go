package doctor

import (
	"path/filepath"

	"golang.org/x/sys/windows"
)

// unwritable returns nil. On Windows, only an actual write would tell.
func unwritable(string) error { return nil }

// isOurs reports whether a folder belongs to the user.
func isOurs(string) bool { return true }

// roomOn returns how many bytes the user may still write on the volume that contains dir,
// and the volume's id.
func roomOn(dir string) (bytes int64, volume uint64, ok bool) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, 0, false
	}
	var free uint64
	if windows.GetDiskFreeSpaceEx(name, &free, nil, nil) != nil {
		return 0, 0, false
	}
	letter := filepath.VolumeName(dir) + "?"
	return int64(free), uint64(letter[0]), true
}
