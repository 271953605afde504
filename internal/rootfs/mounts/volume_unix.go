//go:build (unix && !linux) || (linux && portable)

package mounts

import (
	"os"
	"syscall"
)

// volumeOf returns the device of the entry at an absolute path.
func volumeOf(dir string) (uint64, error) {
	info, err := os.Lstat(dir)
	if err != nil {
		return 0, err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Dev), nil
	}
	return 0, nil
}
