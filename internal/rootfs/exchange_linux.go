//go:build linux && portable

package rootfs

import (
	"errors"

	"golang.org/x/sys/unix"
)

// exchange swaps two names in one step, here so that the portable half is tested
// with it.
func (d *dirHandle) exchange(a, b string) error {
	dir, err := d.h.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	fd := int(dir.Fd())
	err = unix.Renameat2(fd, a, fd, b, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) {
		return errNoExchange
	}
	return err
}
