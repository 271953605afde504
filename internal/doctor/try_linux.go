package doctor

import (
	"errors"

	"golang.org/x/sys/unix"
)

// tryWrite creates a file without a name in a folder. This causes no event, changes no
// time stamp and leaves nothing to remove. It is needed because sandboxes such as
// Landlock deny writes that the folder's mode allows. On file systems without such files
// it returns nil.
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
