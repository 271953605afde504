package trash

import (
	"errors"
	"path"
	"strings"
	"time"
)

// record is what a .trashinfo file says.
type record struct {
	path    string // absolute, or relative to the top of the volume
	deleted time.Time
	size    int64 // of the original; only the recycle bin keeps it
}

const (
	infoSuffix = ".trashinfo"
	infoHead   = "[Trash Info]"
	// infoTime is local time without a zone; that is the specification.
	infoTime = "2006-01-02T15:04:05"
	// maxInfo is far above any real record: a path of 4096 bytes, all escaped.
	maxInfo = 64 << 10
)

func (r record) encode() []byte {
	return []byte(infoHead + "\nPath=" + escape(r.path) + "\nDeletionDate=" + r.deleted.Local().Format(infoTime) + "\n")
}

var (
	errNoHead = errors.New("not a trash record")
	errNoPath = errors.New("the record has no usable path")
)

// parseRecord reads a record of any program. The first Path and DeletionDate
// count; a date that can't be read is left out, for the thing can still be
// restored.
func parseRecord(data []byte) (record, error) {
	lines := strings.Split(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n")
	if strings.TrimSpace(lines[0]) != infoHead {
		return record{}, errNoHead
	}
	var r record
	hasPath, hasDate := false, false
	for _, line := range lines[1:] {
		if v, ok := strings.CutPrefix(line, "Path="); ok && !hasPath {
			p, err := unescape(v)
			if err != nil {
				return record{}, err
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
		return record{}, errNoPath // the specification forbids to leave the volume
	}
	r.path = clean
	return r, nil
}

const upperHex = "0123456789ABCDEF"

// escape encodes a path as the specification asks (RFC 2396), byte by byte.
func escape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("-_.!~*'()/", c) >= 0:
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(upperHex[c>>4])
			b.WriteByte(upperHex[c&15])
		}
	}
	return b.String()
}

// unescape is forgiving: some programs write non-ASCII letters as they are. A
// percent sign that starts no escape is a damaged record.
func unescape(s string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b.WriteByte(s[i])
			continue
		}
		if i+2 >= len(s) {
			return "", errNoPath
		}
		hi, lo := unhex(s[i+1]), unhex(s[i+2])
		if hi < 0 || lo < 0 {
			return "", errNoPath
		}
		b.WriteByte(byte(hi<<4 | lo))
		i += 2
	}
	return b.String(), nil
}

func unhex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}
