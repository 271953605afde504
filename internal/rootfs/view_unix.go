//go:build linux || darwin

package rootfs

import (
	"os"

	"golang.org/x/sys/unix"
)

func (f *File) viewed(size int) []byte {
	fd, local := f.localHandle()
	if !local {
		return nil
	}
	data, err := unix.Mmap(fd, 0, size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil
	}
	return data
}

// Drop releases the pages of content[from:to], so that they no longer count as memory of the
// process.
func (v *View) Drop(from, to int) {
	page := os.Getpagesize()
	if from, to = (from+page-1)/page*page, to/page*page; from < to {
		_ = unix.Madvise(v.data[from:to], unix.MADV_DONTNEED) // a hint
	}
}

// Close unmaps the content. The file stays open.
func (v *View) Close() error { return unix.Munmap(v.data) }
