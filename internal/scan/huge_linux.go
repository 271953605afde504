package scan

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// huge requests large pages for the buffer of a large text: allocating 90 MB in pages of 4
// KiB takes longer than searching it. The request is a hint, so errors are ignored.
func huge(b []byte) {
	b = b[:cap(b)]
	if len(b) < 4*hugePage {
		return
	}
	skip := int(-uintptr(unsafe.Pointer(&b[0])) & (hugePage - 1))
	_ = unix.Madvise(b[skip:skip+(len(b)-skip)&^(hugePage-1)], unix.MADV_HUGEPAGE)
}
