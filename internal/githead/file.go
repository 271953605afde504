package githead

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// File is a file to compare with the last commit.
type File struct {
	Path                string // from the top of the repository, with slashes
	Mode                fs.FileMode
	Size                int64
	ModTime, ChangeTime time.Time
	Ino                 uint64
	// Open opens it for reading.
	Open func() (io.ReadCloser, error)
}

// stamp is what git stores about a file to detect changes: the lower 32 bits of
// each value.
type stamp struct{ mtime, mnano, ctime, cnano, ino, size uint32 }

// stamped is an entry of the index.
type stamped struct {
	stamp
	id string
}

// maxIndex is the largest index that is read: about ten million files.
const maxIndex = 1 << 30

// readIndex reads git's index. Parts that can't be read are skipped; see the
// package comment.
func (r *Repo) readIndex() {
	r.index = map[string]*stamped{}
	name := filepath.Join(r.git, "index")
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxIndex {
		return
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return
	}
	r.written = stamp{mtime: uint32(info.ModTime().Unix()), mnano: uint32(info.ModTime().Nanosecond())}
	r.parseIndex(data)
}

// parseIndex takes the entries of an index in version 2, 3 or 4.
func (r *Repo) parseIndex(data []byte) {
	if len(data) < 12 || string(data[:4]) != "DIRC" {
		return
	}
	version, count := binary.BigEndian.Uint32(data[4:]), binary.BigEndian.Uint32(data[8:])
	if version < 2 || version > 4 {
		return
	}
	rest, before := data[12:], ""
	fixed := 40 + r.idSize() + 2
	for range count {
		if len(rest) < fixed {
			return
		}
		e := &stamped{id: string(rest[40 : 40+r.idSize()])}
		for i, to := range []*uint32{&e.ctime, &e.cnano, &e.mtime, &e.mnano, nil, &e.ino, nil, nil, nil, &e.size} {
			if to != nil {
				*to = binary.BigEndian.Uint32(rest[4*i:])
			}
		}
		flags := binary.BigEndian.Uint16(rest[fixed-2:])
		head := fixed
		if version >= 3 && flags&0x4000 != 0 {
			head += 2
		}
		path, size, ok := entryPath(rest, head, version, before)
		if !ok {
			return
		}
		if before = path; flags>>12&3 == 0 { // of a conflict there is no one entry
			r.index[path] = e
		}
		rest = rest[size:]
	}
}

// entryPath reads the path of an entry, which is after its head, and returns
// the length of the entry. Version 4 omits the prefix that the previous path
// has too.
func entryPath(entry []byte, head int, version uint32, before string) (path string, size int, ok bool) {
	if len(entry) < head {
		return "", 0, false
	}
	tail := entry[head:]
	if version < 4 {
		n := bytes.IndexByte(tail, 0)
		size = (head + n + 8) &^ 7
		return string(tail[:max(n, 0)]), size, n >= 0 && size <= len(entry)
	}
	drop, i := 0, 0
	for ; ; i++ {
		if i == len(tail) || i > 4 {
			return "", 0, false
		}
		if drop = drop<<7 | int(tail[i]&0x7f); tail[i]&0x80 == 0 {
			break
		}
		drop++
	}
	tail = tail[i+1:]
	n := bytes.IndexByte(tail, 0)
	if n < 0 || drop > len(before) {
		return "", 0, false
	}
	return before[:len(before)-drop] + string(tail[:n]), head + i + 1 + n + 1, true
}

// Same reports whether a file is as in the last commit.
func (r *Repo) Same(f *File) (bool, error) {
	at, ok, err := r.committed(f.Path)
	if err != nil || !ok {
		return false, err
	}
	if at.mode&0o170000 != 0o100000 || r.mode && (at.mode&0o100 != 0) != (f.Mode&0o100 != 0) {
		return false, nil
	}
	if e := r.index[f.Path]; e != nil && e.id == at.id && r.trusts(e, f) {
		return true, nil
	}
	id, err := r.idOf(f)
	return id == at.id, err
}

// trusts reports whether a file has the stamp in the index, and whether that
// stamp can be trusted. A file that was written in the same clock tick as the
// index, or later, may have changed without a new stamp, so it is read.
func (r *Repo) trusts(e *stamped, f *File) bool {
	m, c := f.ModTime, f.ChangeTime
	if e.stamp != (stamp{uint32(m.Unix()), uint32(m.Nanosecond()), uint32(c.Unix()), uint32(c.Nanosecond()), uint32(f.Ino), uint32(f.Size)}) {
		return false
	}
	return e.mtime < r.written.mtime || e.mtime == r.written.mtime && e.mnano < r.written.mnano
}

// maxConverted is the largest file that is compared with other line endings.
const maxConverted = 64 << 20

// idOf is the name git gives the content of a file. If git may convert line
// endings, a file with \r\n is compared as if it had \n.
func (r *Repo) idOf(f *File) (string, error) {
	in, err := f.Open()
	if err != nil {
		return "", err
	}
	defer in.Close()
	if !r.crlf || f.Size > maxConverted {
		return r.blob(in, f.Size)
	}
	data, err := io.ReadAll(io.LimitReader(in, maxConverted+1))
	if err != nil {
		return "", err
	}
	id, err := r.blob(bytes.NewReader(data), int64(len(data)))
	if err != nil || !bytes.Contains(data, []byte("\r\n")) {
		return id, err
	}
	if at, ok, _ := r.committed(f.Path); ok && at.id == id {
		return id, nil
	}
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	return r.blob(bytes.NewReader(data), int64(len(data)))
}

// blob is the name of a content.
func (r *Repo) blob(in io.Reader, size int64) (string, error) {
	h := r.newHash()
	h.Write([]byte("blob " + strconv.FormatInt(size, 10) + "\x00"))
	n, err := io.Copy(h, io.LimitReader(in, size+1))
	if err == nil && n != size {
		err = fmt.Errorf("the file changed while it was read")
	}
	return string(h.Sum(nil)), err
}
