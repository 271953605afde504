package outside

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

var (
	errNotRegular = errors.New("not a regular file")
	errTooLong    = errors.New("too large")
)

// Read reads a regular file of at most max bytes outside of any root. Its path may contain
// symlinks. Anything else is refused without waiting.
func Read(name string, max int64) ([]byte, fs.FileInfo, error) {
	// Check before opening, because opening a device has side effects.
	info, err := os.Stat(name)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, info, &fs.PathError{Op: "read", Path: name, Err: errNotRegular}
	}
	f, err := os.OpenFile(name, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, info, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, info, &fs.PathError{Op: "read", Path: name, Err: errNotRegular}
	}
	if info.Size() > max {
		return nil, info, &fs.PathError{Op: "read", Path: name, Err: fmt.Errorf("%w: %d bytes, at most %d", errTooLong, info.Size(), max)}
	}
	data, err := io.ReadAll(io.LimitReader(f, max+1))
	if err == nil && int64(len(data)) > max {
		err = &fs.PathError{Op: "read", Path: name, Err: fmt.Errorf("%w: more than %d bytes", errTooLong, max)}
	}
	if err != nil {
		return nil, info, err
	}
	return data, info, nil
}
