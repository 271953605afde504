package doctor

import (
	"errors"

	"golang.org/x/sys/unix"
)

// tryWrite makes a file without a name in a folder: no event, no changed time stamp, nothing
// to remove. Sandboxes such as Landlock refuse writes that the folder's mode allows, and
// only trying shows that. File systems without such files are not tested.
func tryWrite(dir string) error {
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_WRONLY|unix.O_CLOEXEC, 0o600)
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EISDIR) || errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EINVAL) {
		return nil
	}
	if err != nil {
		return err
	}
	return unix.Close(fd)
}
