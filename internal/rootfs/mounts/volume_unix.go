//go:build (unix && !linux) || (linux && portable)

package mounts

import (
	"os"
	"syscall"
)

// volumeOf is the device that what stands at an absolute path is on.
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
