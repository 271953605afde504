//go:build !linux || portable

package rootfs

import (
	"os"
	"time"
)

// Writer receives the content of a file that CreateFunc makes.
type Writer struct {
	f     *os.File
	mtime time.Time
}

// Write appends b.
func (w *Writer) Write(b []byte) (int, error) {
	n, err := w.f.Write(b)
	return n, Wrap("write", "file", err)
}

func (w *Writer) put(b []byte) error {
	_, err := w.f.Write(b)
	return err
}

// Clone returns false, because it is not supported on this system.
func (w *Writer) Clone(*File) bool { return false }

// ReadAt reads bytes already written.
func (w *Writer) ReadAt(b []byte, off int64) (int, error) {
	n, err := w.f.ReadAt(b, off)
	return n, readErr(err)
}

// SetModTime sets the file's modification time.
func (w *Writer) SetModTime(t time.Time) error { w.mtime = t; return nil }
