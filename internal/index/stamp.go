package index

import (
	"encoding/binary"
	"time"

	"quarry/internal/rootfs"
)

// Stamp distinguishes two states of a file without reading it. Stamps are only
// compared for equality: a rewrite can keep size and modification time, but not
// the time of change.
type Stamp struct {
	Ino   uint64
	Size  int64
	MTime int64 // nanoseconds since 1970, 0 if unknown
	CTime int64
}

func stampOf(info *rootfs.Info) Stamp {
	return Stamp{info.Ino, info.Size, nanos(info.ModTime), nanos(info.ChangeTime)}
}

func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// Of reports whether a file still has the stamp.
func (s Stamp) Of(info *rootfs.Info) bool { return s == stampOf(info) }

const stampSize = 32

func appendStamp(dst []byte, s Stamp) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, s.Ino)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(s.Size))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(s.MTime))
	return binary.LittleEndian.AppendUint64(dst, uint64(s.CTime))
}

func readStamp(b []byte) Stamp {
	_ = b[stampSize-1]
	return Stamp{
		binary.LittleEndian.Uint64(b),
		int64(binary.LittleEndian.Uint64(b[8:])),
		int64(binary.LittleEndian.Uint64(b[16:])),
		int64(binary.LittleEndian.Uint64(b[24:])),
	}
}

// racyWindow is the time after a change in which a second change could leave the
// same stamp. FAT has the coarsest clock in use: two seconds.
const racyWindow = 2 * time.Second

// racy reports whether the file may change after now without a new stamp. A time
// in the future is not reliable either.
func (s Stamp) racy(now time.Time, window time.Duration) bool {
	return s.changed() >= now.Add(-window).UnixNano()
}

// changed returns the time of the file's last change, if known.
func (s Stamp) changed() int64 {
	if s.CTime == 0 {
		return s.MTime
	}
	return s.CTime
}

// Flags are properties of a file that matter to a search.
type Flags uint16

const (
	// Binary files have no grams: they are searched only when asked for.
	Binary Flags = 1 << iota
	// AlwaysScan is for files that grams can't describe: with a line longer than a scan
	// accepts, or unreadable ones.
	AlwaysScan
	// Large texts may be more than a scan accepts at once in multiline mode. They have
	// grams.
	Large
	// Hidden files are listed only when hidden ones are asked for.
	Hidden
	// racyFlag marks a file that changed just before it was read: the next
	// sweep reads it again.
	racyFlag
	// Linked files have several names, or a handle whose name is gone. A write through those
	// makes no event for this one, so every Fresh compares their stamps.
	Linked
	// Wide texts are large and have a line of more than WideLine: a few lines of context may
	// be more than a scan accepts at once.
	Wide
	// Secret files have a name that indicates credentials. They are never read for the
	// index. Clients that may see them search them.
	Secret
	// Ignored files are excluded by the rules in the tree itself. Rules from
	// outside are not considered: they belong to the client.
	Ignored
	// Undefined texts have definitions that are not in the index: they are too many, or the
	// text is made to take long. A search reads the file, and reports that.
	Undefined
	// Unlisted texts have fields that are not in the index: their values are too
	// large. An answer about fields reads the file.
	Unlisted
)
