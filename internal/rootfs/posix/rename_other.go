//go:build unix && !darwin

package posix

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// renamesExclusively tells whether renameBetween is one call.
const renamesExclusively = false

// renameBetween moves a name between open folders. It checks first that nothing
// would be overwritten; no call does both at once.
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
