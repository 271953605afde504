//go:build unix && !darwin

package posix

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// renamesExclusively reports whether renameBetween never overwrites.
const renamesExclusively = false

// renameBetween moves a name between open folders. It first checks that nothing would be
// overwritten, since this system has no call that does both.
func renameBetween(src *os.Root, name string, dst *os.Root, base string) error {
	if _, err := dst.Lstat(base); err == nil {
		return syscall.EEXIST
	}
	from, err := src.Open(".")
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := dst.Open(".")
	if err != nil {
		return err
	}
	err = unix.Renameat(int(from.Fd()), name, int(to.Fd()), base)
	return errors.Join(err, to.Close())
}
