package trash

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"
	"time"
)

// record is the content of a .trashinfo file.
type record struct {
	path    string // absolute, or relative to the root of the volume
	deleted time.Time
	size    int64 // of the original; only the recycle bin records it
}

const (
	infoSuffix = ".trashinfo"
	infoHead   = "[Trash Info]"
	// infoTime is local time without a time zone, as the specification requires.
	infoTime = "2006-01-02T15:04:05"
	// maxInfo is much larger than any real record: a path of 4096 bytes, all escaped,
	// takes 12 KB.
	maxInfo = 64 << 10
)

func (r record) encode() []byte {
	return []byte(infoHead + "\nPath=" + escape(r.path) + "\nDeletionDate=" + r.deleted.Local().Format(infoTime) + "\n")
}

var (
	errNoHead = errors.New("not a trash record")
	errNoPath = errors.New("the record has no usable path")
)

// parseRecord parses a record, which any program may have written. It uses the first Path
// and DeletionDate. It ignores an invalid date, because the item can still be restored.
func parseRecord(data []byte) (record, error) {
	lines := strings.Split(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n")
	if strings.TrimSpace(lines[0]) != infoHead {
		return record{}, errNoHead
	}
	var r record
	hasPath, hasDate := false, false
	for _, line := range lines[1:] {
		if v, ok := strings.CutPrefix(line, "Path="); ok && !hasPath {
			p, err := url.PathUnescape(v) // some programs write non-ASCII letters unescaped
			if err != nil {
				return record{}, errNoPath
			}
			r.path, hasPath = p, true
		}
		if v, ok := strings.CutPrefix(line, "DeletionDate="); ok && !hasDate {
			hasDate = true
			if t, err := time.ParseInLocation(infoTime, strings.TrimSpace(v), time.Local); err == nil {
				r.deleted = t
			}
		}
	}
	clean := path.Clean(r.path)
	switch {
	case !hasPath, r.path == "", strings.IndexByte(r.path, 0) >= 0, clean == "/", clean == ".":
		return record{}, errNoPath
	case clean == "..", strings.HasPrefix(clean, "../"):
		return record{}, errNoPath // the specification forbids paths that leave the volume
	}
	r.path = clean
	return r, nil
}

// escape encodes a path byte by byte according to RFC 2396.
func escape(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("-_.!~*'()/", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
