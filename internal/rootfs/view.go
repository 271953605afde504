package rootfs

import "time"

// View is the content of a user's file in mapped memory, for reading without copying. It may change at any
// time: if the file is truncated, reading beyond its end is a fault, and if it is written to, old and new bytes
// are mixed. So results from a View are only valid if Steady returns true afterwards, and a reader must
// recover from faults (debug.SetPanicOnFault).
type View struct {
	f    *File
	data []byte
}

// steadyAge is the minimum time since the last change of a viewed file. Changes are detected
// by the file's times, which advance in steps of 10 ms, on some file systems 2 s: shortly
// after a write, a second write may not change them.
const steadyAge = 3 * time.Second

// View maps the file. It returns nil if the file is empty, was changed recently, or is on a
// file system where changes may go unnoticed.
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
	if !v.Steady() { // it may have been truncated since it was opened
		v.Close()
		return nil
	}
	return v
}

// Bytes returns the content, with the length that the file had when it was opened. It is
// valid until Close.
func (v *View) Bytes() []byte { return v.data }

// Steady reports whether the file is unmodified since it was opened.
func (v *View) Steady() bool {
	now, err := v.f.Stat()
	return err == nil && Unchanged(now, v.f.info)
}

// ReadAt reads the current content of the file.
func (v *View) ReadAt(b []byte, off int64) (int, error) { return v.f.ReadAt(b, off) }
