//go:build !linux || portable

package rootfs

import (
	"os"
)

func (r *Root) openLog(p Path, create bool) (f *os.File, err error) {
	flags := os.O_RDWR | os.O_APPEND | openNonblock
	if create {
		flags |= os.O_CREATE
	}
	err = r.in("open", p, func(dir *os.Root, base string) error {
		if f, err = dir.OpenFile(base, flags, 0o600); err != nil || !create {
			return err
		}
		return syncFolder(dir)
	})
	return f, err
}

func (r *Root) appendLog(f *os.File, b []byte, _ int64) error {
	_, err := f.Write(b)
	return err
}

func (r *Root) truncateLog(f *os.File, size int64) error { return f.Truncate(size) }

func (r *Root) syncLog(f *os.File) error { return f.Sync() }
