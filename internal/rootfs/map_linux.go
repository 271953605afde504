//go:build linux && !portable

package rootfs

import (
	"syscall"

	"golang.org/x/sys/unix"
)

const reallyMaps = true

// forgetPages drops mapped pages of a file; it is a hint.
func forgetPages(data []byte) { _ = unix.Madvise(data, unix.MADV_DONTNEED) }

// mapFile maps the whole of f, which is not empty.
func mapFile(f *File, size int) (data []byte, unmap func() error, err error) {
	data, err = syscall.Mmap(f.fd, 0, size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, err
	}
	return data, func() error { return syscall.Munmap(data) }, nil
}
