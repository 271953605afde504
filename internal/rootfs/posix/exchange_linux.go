package posix

import (
	"errors"

	"golang.org/x/sys/unix"

	"quarry/internal/rootfs/file"
)

// swapNames exists on Linux only to test the portable code with an exchange.
func swapNames(dir int, a, b string) error {
	err := unix.Renameat2(dir, a, dir, b, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) {
		return file.ErrNoExchange
	}
	return err
}
