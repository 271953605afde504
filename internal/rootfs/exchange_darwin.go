package rootfs

import (
	"errors"

	"golang.org/x/sys/unix"
)

// swapNames needs APFS: HFS+ and network volumes can't.
func swapNames(dir int, a, b string) error {
	err := unix.RenameatxNp(dir, a, dir, b, unix.RENAME_SWAP)
	if errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EINVAL) {
		return errNoExchange
	}
	return err
}
