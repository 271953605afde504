package doctor

import (
	"path/filepath"

	"golang.org/x/sys/windows"
)

// unwritable is nil: Windows tells only when one tries.
func unwritable(string) error { return nil }

// isOurs reports whether a folder belongs to the user.
func isOurs(string) bool { return true }

// roomOn is how many bytes a user may still write where a folder lies, and
// which volume that is.
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
