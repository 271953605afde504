package index

import (
	"encoding/binary"
	"time"

	"quarry/internal/rootfs"
)

// Stamp distinguishes states of a file without reading it. Stamps are only compared for
// equality. A rewrite can preserve size and modification time, but not the time of
// change.
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

// racyWindow is the time after a change during which another change could result in the
// same stamp. FAT has the coarsest clock in use: two seconds.
const racyWindow = 2 * time.Second

// racy reports whether the file may change after now without getting a new stamp. A time
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

// Flags are properties of a file that affect searches.
type Flags uint16

const (
	// Binary files have no grams. They are searched only if the query includes binary
	// files.
	Binary Flags = 1 << iota
	// AlwaysScan files can't be described by grams: they are unreadable, or have a line
	// longer than a scan accepts.
	AlwaysScan
	// Large texts may be too large for a scan in multiline mode. They have grams.
	Large
	// Hidden files are listed only if the query includes hidden files.
	Hidden
	// racyFlag marks a file that changed just before it was read. The next sweep reads it
	// again.
	racyFlag
	// Linked files have several names, or are open under a deleted name. A write through
	// another name or that handle causes no event, so every Fresh compares their stamps.
	Linked
	// Wide texts are large and have a line longer than WideLine. With a few context lines
	// they may be too large for a scan.
	Wide
	// Secret files have a name that suggests credentials. The index never reads them.
	// Clients that may see them search the files themselves.
	Secret
	// Ignored files are excluded by rules in the tree itself. Rules from outside belong
	// to the client and are not considered.
	Ignored
	// Undefined texts have definitions that are not indexed, because there are too many or
	// because finding them takes too long. A search reads the file, and reports that.
	Undefined
	// Unlisted texts have fields that are not indexed, because their values are too
	// large. Answers about fields read the file.
	Unlisted
)
