//go:build linux && !portable

package rootfs

import (
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"quarry/internal/rootfs/linux"
)

func infoOf(path string) (Info, error) { return linux.InfoAt(unix.AT_FDCWD, path, 0) }

// isBeneath reports whether an open folder is one of the folders in above, or beneath one.
func isBeneath(dir *folder, above []Info) (bool, error) {
	at, last := dir.FD, Info{}
	defer func() {
		if at != dir.FD {
			syscall.Close(at)
		}
	}()
	for len(above) > 0 {
		info, err := linux.InfoOf(at)
		if err != nil || slices.ContainsFunc(above, info.SameFile) {
			return err == nil, err
		}
		if info.SameFile(last) { // the top
			break
		}
		up, err := syscall.Openat(at, "..", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return false, err
		}
		if at != dir.FD {
			syscall.Close(at)
		}
		at, last = up, info
	}
	return false, nil
}
