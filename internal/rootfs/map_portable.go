//go:build !linux || portable

package rootfs

import "io"

const reallyMaps = false

func forgetPages([]byte) {}

// mapFile reads f into memory: a mapped file can't be deleted on Windows.
func mapFile(f *File, size int) (data []byte, unmap func() error, err error) {
	data = make([]byte, size)
	if n, err := f.ReadAt(data, 0); err != nil && (err != io.EOF || n < size) {
		return nil, nil, err
	}
	return data, func() error { return nil }, nil
}
