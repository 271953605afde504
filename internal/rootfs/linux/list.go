//go:build linux

package linux

import (
	"bytes"
	"encoding/binary"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"quarry/internal/rootfs/file"
)

// 64 KiB holds about 1,600 entries; most folders need one call.
const direntBuf = 64 << 10

var direntPool = sync.Pool{New: func() any { return new([direntBuf]byte) }}

// List appends all entries of an open folder to buf, in the system's order, without "." and "..". The names in
// one block of the listing share a string, so most folders cost one allocation for names. It reads from the
// handle's position: a second List returns only entries that the system adds, usually none.
func List(dir int, buf []file.Entry) ([]file.Entry, error) {
	b := direntPool.Get().(*[direntBuf]byte)
	defer direntPool.Put(b)
	for {
		n, err := syscall.ReadDirent(dir, b[:])
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return buf, err
		}
		if n <= 0 {
			return buf, nil
		}
		buf = parse(dir, b[:n], buf)
	}
}

// parse reads one block of linux_dirent64 records: ino 8, offset 8, length 2,
// type 1, name with NUL. Names are first moved to the front of the block, each with its
// NUL, so that the string made of them contains no headers.
func parse(dir int, block []byte, buf []file.Entry) []file.Entry {
	first, w := len(buf), 0
	for r := 0; r+19 < len(block); {
		size := int(binary.NativeEndian.Uint16(block[r+16:]))
		if size < 20 || r+size > len(block) {
			break
		}
		rec := block[r : r+size]
		r += size
		n := bytes.IndexByte(rec[19:], 0)
		if n <= 0 || rec[19] == '.' && (n == 1 || n == 2 && rec[20] == '.') {
			continue
		}
		buf = append(buf, file.Entry{Ino: binary.NativeEndian.Uint64(rec), Type: typeOfDirent(rec[18])})
		w += copy(block[w:], rec[19:19+n+1]) // w never passes r
	}
	names := string(block[:w])
	for i := first; i < len(buf); i++ {
		n := strings.IndexByte(names, 0)
		buf[i].Name, names = names[:n], names[n+1:]
		if buf[i].Type == file.TypeUnknown {
			if info, err := InfoAt(dir, buf[i].Name, 0); err == nil {
				buf[i].Type = info.Type
			}
		}
	}
	return buf
}

func typeOfDirent(t byte) file.Type {
	switch t {
	case unix.DT_REG:
		return file.TypeFile
	case unix.DT_DIR:
		return file.TypeDir
	case unix.DT_LNK:
		return file.TypeSymlink
	case unix.DT_UNKNOWN:
		return file.TypeUnknown
	}
	return file.TypeOther
}
