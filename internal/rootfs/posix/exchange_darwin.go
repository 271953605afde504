package posix

import (
	"errors"

	"golang.org/x/sys/unix"

	"quarry/internal/rootfs/file"
)

// swapNames works on APFS, but not on HFS+ and network volumes.
func swapNames(dir int, a, b string) error {
	err := unix.RenameatxNp(dir, a, dir, b, unix.RENAME_SWAP)
	if errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EINVAL) {
		return file.ErrNoExchange
	}
	return err
}
