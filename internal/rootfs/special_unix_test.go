//go:build linux || darwin

package rootfs

import (
	"golang.org/x/sys/unix"
)

func mkfifo(path string) error { return unix.Mkfifo(path, 0o644) }

// mkdevice makes a node of /dev/null, which needs root.
func mkdevice(path string) error {
	return unix.Mknod(path, unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3)))
}
