//go:build !linux || portable

package rootfs

import (
	"io"
	"os"
)

func (r *Root) openLog(p Path, create bool) (f *os.File, err error) {
	err = r.in("open", p, func(dir *folder, base string) error {
		if f, err = dir.OpenLog(base, create); err != nil || !create {
			return err
		}
		return dir.Sync()
	})
	return f, err
}

func (r *Root) appendLog(f *os.File, b []byte, size int64) error {
	_, err := f.Seek(size, io.SeekStart) // no effect on a file opened with O_APPEND
	if err == nil {
		_, err = f.Write(b)
	}
	return err
}

func (r *Root) truncateLog(f *os.File, size int64) error { return f.Truncate(size) }

func (r *Root) syncLog(f *os.File) error { return f.Sync() }
