//go:build linux && !portable

package rootfs

import (
	"bytes"
	"encoding/binary"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Dir is an open folder. Opening its entries costs one system call each and
// can't leave the root: names have no separator and no symlink is followed.
type Dir struct {
	fd   int
	path Path
	root *Root
}

func (r *Root) openFolder(rel string) (*Dir, error) {
	fd, err := r.sys.openRel(rel, flagsDir)
	return &Dir{fd: fd}, err
}

// openDir is OpenDir for names that were checked.
func (d *Dir) openDir(name string) (*Dir, error) {
	p := d.path.child(name)
	fd, err := openat(d.fd, name, flagsDir, 0)
	if err != nil {
		return nil, wrap("open", p.s, err)
	}
	return &Dir{fd: fd, path: p, root: d.root}, nil
}

// openFile is OpenFile for names that were checked.
func (d *Dir) openFile(name string) (*File, error) {
	fd, err := openat(d.fd, name, flagsFile, 0)
	f := new(File)
	if err == nil {
		err = f.adopt(fd)
	}
	if err != nil {
		if err == unix.ELOOP {
			err = errNotRegular
		}
		return nil, wrap("open", d.path.child(name).s, notRegularErr(err))
	}
	return f, nil
}

// Info describes the folder itself.
func (d *Dir) Info() (Info, error) {
	i, err := infoAt(d.fd, "", unix.AT_EMPTY_PATH)
	return i, wrap("stat", d.path.String(), err)
}

// Close releases the folder. Closing twice is harmless.
func (d *Dir) Close() error {
	if d.fd < 0 {
		return nil
	}
	fd := d.fd
	d.fd = -1
	return wrap("close", d.path.String(), syscall.Close(fd))
}

// 64 KiB holds about 1,600 entries; most folders need one call.
const direntBuf = 64 << 10

var direntPool = sync.Pool{New: func() any { return new([direntBuf]byte) }}

// Read appends all entries of the folder to buf, in the system's order, without
// "." and "..". Names of one block of the listing are one string, so a folder
// costs one allocation for names. It reads from the beginning once; a second
// Read of the same Dir returns only what the system adds, usually nothing.
func (d *Dir) Read(buf []Entry) ([]Entry, error) {
	b := direntPool.Get().(*[direntBuf]byte)
	defer direntPool.Put(b)
	for {
		n, err := syscall.ReadDirent(d.fd, b[:])
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return buf, wrap("list", d.path.String(), err)
		}
		if n <= 0 {
			return buf, nil
		}
		buf = d.parse(b[:n], buf)
	}
}

// parse reads one block of linux_dirent64 records: ino 8, offset 8, length 2,
// type 1, name with NUL. Names are first moved together at the front of the
// block, each with its NUL, so that the one string made of them carries no
// headers.
func (d *Dir) parse(block []byte, buf []Entry) []Entry {
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
		buf = append(buf, Entry{Ino: binary.NativeEndian.Uint64(rec), Type: typeOfDirent(rec[18])})
		w += copy(block[w:], rec[19:19+n+1]) // w never passes r
	}
	names := string(block[:w])
	for i := first; i < len(buf); i++ {
		n := strings.IndexByte(names, 0)
		buf[i].Name, names = names[:n], names[n+1:]
		if buf[i].Type == TypeUnknown {
			if info, err := infoAt(d.fd, buf[i].Name, 0); err == nil {
				buf[i].Type = info.Type
			}
		}
	}
	return buf
}

func typeOfDirent(t byte) Type {
	switch t {
	case unix.DT_REG:
		return TypeFile
	case unix.DT_DIR:
		return TypeDir
	case unix.DT_LNK:
		return TypeSymlink
	case unix.DT_UNKNOWN:
		return TypeUnknown
	}
	return TypeOther
}

func (d *Dir) lstat(name string) (Info, error) { return infoAt(d.fd, name, 0) }
