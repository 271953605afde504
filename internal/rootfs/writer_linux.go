//go:build linux && !portable

package rootfs

import (
	"time"

	"golang.org/x/sys/unix"
)

// Writer receives the content of a file that CreateFunc makes.
type Writer struct {
	r   *Root
	fd  int
	off int64
}

// Write appends b.
func (w *Writer) Write(b []byte) (int, error) {
	if err := w.put(b); err != nil {
		return 0, wrap("write", "file", err)
	}
	return len(b), nil
}

func (w *Writer) put(b []byte) error {
	err := w.r.pwriteAll(w.fd, b, w.off)
	if err == nil {
		w.off += int64(len(b))
	}
	return err
}

// Clone makes the file share the content of f as it is now, if the file system
// can do that without copying; nothing must have been written before.
func (w *Writer) Clone(f *File) bool {
	if w.off != 0 || unix.IoctlFileClone(w.fd, f.fd) != nil {
		return false
	}
	if info, err := infoAt(w.fd, "", unix.AT_EMPTY_PATH); err == nil {
		w.off = info.Size
	}
	return true
}

// ReadAt reads what was written.
func (w *Writer) ReadAt(b []byte, off int64) (int, error) {
	return (&File{fd: w.fd}).ReadAt(b, off)
}

// SetModTime gives the file another time of last change; it is done last.
func (w *Writer) SetModTime(t time.Time) error { return wrap("utime", "file", w.r.setModTime(w.fd, t)) }
