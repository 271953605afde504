package recorder

import (
	"encoding/binary"
	"errors"
	"hash/fnv"
	"io/fs"
	"strings"
	"time"

	"quarry/internal/rootfs"
	"quarry/internal/rootfs/version"
)

// place is where the content of a file is stored.
type place uint8

const (
	nowhere place = iota // not stored; see entry.why
	inGit                // an object in the git repository
	inStore              // stored by the baseline
)

// why is the reason why the content of a file is not stored.
type why uint8

const (
	kept       why = iota
	tooLarge       // a text over 4 MB, or a binary file over 1 MB
	overBudget     // the store is full
	unreadable     // the system denied reading it
)

// entry is the state of a name in a folder, according to the baseline.
type entry struct {
	name      string
	typ       rootfs.Type // in the log, TypeUnknown means that the name was removed
	uncovered bool        // the name exists but isn't covered; only the type is known
	mode      fs.FileMode // permissions
	stamp     uint64      // the file's stamp when it was read; 0 if unreliable, see stampOf
	place     place
	why       why
	blob      string         // git's id of the content, if inGit
	version   rootfs.Version // set if inStore
	off       int64          // offset in the store
	stored    int64          // stored size in bytes
	target    string         // of a symlink
}

// stampOf returns a hash of the attributes that change with a write, or 0 if the file was
// written within a tick of the file system's clock before it was read: it may then change
// again without a new stamp.
func stampOf(info rootfs.Info, read time.Time) uint64 {
	newest := info.ModTime
	if info.ChangeTime.After(newest) {
		newest = info.ChangeTime
	}
	if newest.After(read.Add(-racy)) {
		return 0
	}
	h := fnv.New64a()
	var b [32]byte
	for i, v := range [...]int64{info.ModTime.UnixNano(), info.ChangeTime.UnixNano(), int64(info.Ino), info.Size} {
		binary.LittleEndian.PutUint64(b[8*i:], uint64(v))
	}
	h.Write(b[:])
	return max(h.Sum64(), 1)
}

// racy is at least the clock tick of any file system: FAT has 2 seconds.
const racy = 2 * time.Second

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func (e *entry) append(b []byte) []byte {
	b = appendString(b, e.name)
	if e.uncovered {
		return append(b, byte(e.typ)|notCovered)
	}
	b = append(b, byte(e.typ))
	if e.typ == rootfs.TypeUnknown {
		return b
	}
	b = binary.AppendUvarint(b, uint64(e.mode.Perm()))
	b = binary.LittleEndian.AppendUint64(b, e.stamp)
	switch e.typ {
	case rootfs.TypeSymlink:
		b = appendString(b, e.target)
	case rootfs.TypeFile:
		b = append(b, byte(e.place), byte(e.why))
		switch e.place {
		case inGit:
			b = appendString(b, e.blob)
		case inStore:
			b = e.version.Append(b)
			b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(e.off)), uint64(e.stored))
		}
	}
	return b
}

// notCovered is added to the type of an entry that is not covered.
const notCovered = 0x80

var errFormat = errors.New("the baseline is damaged")

// reader decodes what append has encoded. After an error all results are zero and bad is
// set.
type reader struct {
	s   string
	bad bool
}

func (r *reader) take(n uint64) string {
	if n > uint64(len(r.s)) {
		r.s, r.bad = "", true
		return ""
	}
	out := r.s[:n]
	r.s = r.s[n:]
	return out
}

func (r *reader) byte() byte {
	if s := r.take(1); s != "" {
		return s[0]
	}
	return 0
}

func (r *reader) num() uint64 {
	n := uint64(0)
	for shift := 0; shift < 64; shift += 7 {
		c := r.byte()
		n |= uint64(c&0x7f) << shift
		if c&0x80 == 0 {
			return n
		}
	}
	r.bad = true
	return 0
}

func (r *reader) str() string { return r.take(r.num()) }

// entry decodes an entry. Its strings share memory with the input.
func (r *reader) entry() entry {
	e := entry{name: r.str()}
	typ := r.byte()
	e.typ, e.uncovered = rootfs.Type(typ&^notCovered), typ&notCovered != 0
	if e.typ == rootfs.TypeUnknown || e.uncovered {
		return e
	}
	e.mode = fs.FileMode(r.num()).Perm()
	if s := r.take(8); s != "" {
		e.stamp = binary.LittleEndian.Uint64([]byte(s))
	}
	switch e.typ {
	case rootfs.TypeSymlink:
		e.target = r.str()
	case rootfs.TypeFile:
		e.place, e.why = place(r.byte()), why(r.byte())
		switch e.place {
		case inGit:
			e.blob = r.str()
		case inStore:
			if s := r.take(16); s != "" {
				e.version = version.From([]byte(s))
			}
			e.off, e.stored = int64(r.num()), int64(r.num())
		}
	}
	return e
}

// join and split convert between a path and its folder and name. The root is "".
func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

func split(path string) (dir, name string) {
	i := strings.LastIndexByte(path, '/')
	return path[:max(i, 0)], path[i+1:]
}

// beneath reports whether path is dir or below it.
func beneath(path, dir string) bool {
	return dir == "" || path == dir || strings.HasPrefix(path, dir) && path[len(dir)] == '/'
}
