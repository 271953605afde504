package rootfs

import "time"

// View is the content of a user's file in mapped memory, for reading without copying. It may change or vanish
// at any time: a truncated file faults at its former end, and a file that is written to shows old bytes
// beside new ones. So results from a View count only if Steady is true afterwards, and a reader has to
// recover from a fault (debug.SetPanicOnFault).
type View struct {
	f    *File
	data []byte
}

// steadyAge is how old the last change of a file has to be for a View. A change is
// seen by the file's times, which move in steps of up to 10 ms, on some file systems
// of 2 s: if a file was just written, a second write may not move them.
const steadyAge = 3 * time.Second

// View maps the file, or returns nil if its content can only be read: it is empty,
// was changed just now, or lies on a file system where others change files unseen.
func (f *File) View() *View {
	size := f.info.Size
	if size <= 0 || int64(int(size)) != size || time.Since(f.info.ModTime) < steadyAge || time.Since(f.info.ChangeTime) < steadyAge {
		return nil
	}
	data := f.viewed(int(size))
	if data == nil {
		return nil
	}
	v := &View{f, data}
	if !v.Steady() { // it may have become shorter since it was opened
		v.Close()
		return nil
	}
	return v
}

// Bytes returns the content as long as it was when the file was opened. It is valid
// until Close.
func (v *View) Bytes() []byte { return v.data }

// Steady reports whether the file is unmodified since it was opened.
func (v *View) Steady() bool {
	now, err := v.f.Stat()
	return err == nil && Unchanged(now, v.f.info)
}

// ReadAt reads the file itself, as it is now.
func (v *View) ReadAt(b []byte, off int64) (int, error) { return v.f.ReadAt(b, off) }
