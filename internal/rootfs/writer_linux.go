//go:build linux && !portable

package rootfs

import (
	"time"

	"golang.org/x/sys/unix"

	"quarry/internal/rootfs/linux"
)

// Writer receives the content of a file that CreateFunc makes.
type Writer struct {
	calls *linux.Calls
	fd    int
	off   int64
}

// Write appends b.
func (w *Writer) Write(b []byte) (int, error) {
	if err := w.put(b); err != nil {
		return 0, Wrap("write", "file", err)
	}
	return len(b), nil
}

func (w *Writer) put(b []byte) error {
	err := w.calls.PwriteAll(w.fd, b, w.off)
	if err == nil {
		w.off += int64(len(b))
	}
	return err
}

// Clone makes the file share the current content of f without copying it, if the file system
// can. It must be called before Write.
func (w *Writer) Clone(f *File) bool {
	if w.off != 0 || unix.IoctlFileClone(w.fd, f.fd) != nil {
		return false
	}
	if info, err := linux.InfoOf(w.fd); err == nil {
		w.off = info.Size
	}
	return true
}

// ReadAt reads bytes already written.
func (w *Writer) ReadAt(b []byte, off int64) (int, error) {
	return (&File{fd: w.fd}).ReadAt(b, off)
}

// SetModTime sets the file's modification time. It must be called after the last Write.
func (w *Writer) SetModTime(t time.Time) error {
	return Wrap("utime", "file", w.calls.SetModTime(w.fd, t))
}
