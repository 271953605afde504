package posix

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// renamesExclusively reports whether renameBetween never overwrites.
const renamesExclusively = true

// renameBetween moves a name between open folders and never overwrites.
func renameBetween(src *os.Root, name string, dst *os.Root, base string) error {
	from, err := src.Open(".")
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := dst.Open(".")
	if err != nil {
		return err
	}
	err = unix.RenameatxNp(int(from.Fd()), name, int(to.Fd()), base, unix.RENAME_EXCL)
	return errors.Join(err, to.Close())
}
