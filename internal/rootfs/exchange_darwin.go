package rootfs

import (
	"errors"

	"golang.org/x/sys/unix"
)

// exchange swaps two names in one step. APFS can; HFS+ and network volumes can't.
func (d *dirHandle) exchange(a, b string) error {
	dir, err := d.h.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	fd := int(dir.Fd())
	err = unix.RenameatxNp(fd, a, fd, b, unix.RENAME_SWAP)
	if errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EINVAL) {
		return errNoExchange
	}
	return err
}
