package journal

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
)

// A record is
//
//	marker 8 | type 1 | zero 3 | length 4 | crc of body 4 | crc of head and offset 4 | body
//
// Numbers are little endian, and the checksums are CRC-32C. The marker is random, differs
// between segments, and is known only to users who can read this folder. So stored
// content can't be mistaken for a record, even if a torn write leaves it at the start of
// one. Since the checksum includes the offset, a record in the wrong place is not
// accepted either.
const (
	headLen   = 24
	maxRecord = 64 << 20
)

type recType uint8

const (
	recStart  recType = iota + 1 // start of a segment
	recBlob                      // a content
	recDiff                      // the edits from old to new content
	recIntent                    // the planned operations
	recCommit                    // the change was made
	recAbort                     // the change was not made
	recDrop                      // older segments were dropped
	recBack                      // the edits from new to old content
)

type marker [8]byte

// castagnoli returns the CRC table. It is made on first use, because that takes 0.15 ms
// and searches don't need it.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// appendRecord appends to b a record for the offset at of its segment.
func appendRecord(b []byte, m marker, at int64, t recType, body []byte) []byte {
	start := len(b)
	b = append(b, m[:]...)
	b = append(b, byte(t), 0, 0, 0)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(body)))
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(body, castagnoli()))
	b = binary.LittleEndian.AppendUint32(b, headSum(b[start:start+20], at))
	return append(b, body...)
}

func headSum(head []byte, at int64) uint32 {
	var off [8]byte
	binary.LittleEndian.PutUint64(off[:], uint64(at))
	return crc32.Update(crc32.Checksum(head, castagnoli()), castagnoli(), off[:])
}

// record is a decoded record; body is nil if its checksum is wrong.
type record struct {
	at   int64 // its offset
	typ  recType
	body []byte
}

// frames splits data, which begins at the segment's offset base, into records.
type frames struct {
	m    marker
	base int64
	data []byte
	pos  int
	// damaged counts unreadable records.
	damaged int
	// torn is set if data ends in the middle of a record, as after a crash.
	torn bool
}

// next returns the next record with a valid head.
func (f *frames) next() (record, bool) {
	for {
		rest := f.data[f.pos:]
		if len(rest) == 0 {
			return record{}, false
		}
		if r, n, ok := f.parse(); ok {
			f.pos += n
			if r.body == nil && !unwritten(rest[:n]) {
				f.damaged++
			}
			return r, true
		}
		if f.torn {
			return record{}, false
		}
		// This is not a head. Continue at the next marker.
		i := f.resync(1)
		if i < 0 {
			f.damaged++
			f.pos = len(f.data)
			return record{}, false
		}
		if !unwritten(rest[:i]) {
			f.damaged++
		}
		f.pos += i
	}
}

// resync returns the distance to the next valid head that is at least from bytes ahead,
// or -1.
func (f *frames) resync(from int) int {
	rest := f.data[f.pos:]
	for from < len(rest) {
		i := bytes.Index(rest[from:], f.m[:])
		if i < 0 {
			return -1
		}
		from += i
		if h := rest[from:]; len(h) >= headLen && headSum(h[:20], f.base+int64(f.pos+from)) == binary.LittleEndian.Uint32(h[20:]) {
			return from
		}
		from++
	}
	return -1
}

func (f *frames) parse() (record, int, bool) {
	rest := f.data[f.pos:]
	at := f.base + int64(f.pos)
	if len(rest) < headLen {
		f.torn = true
		return record{}, 0, false
	}
	if !bytes.Equal(rest[:8], f.m[:]) || headSum(rest[:20], at) != binary.LittleEndian.Uint32(rest[20:]) {
		f.torn = f.unfinished()
		return record{}, 0, false
	}
	n := binary.LittleEndian.Uint32(rest[12:])
	if n > maxRecord {
		return record{}, 0, false
	}
	if uint64(len(rest)-headLen) < uint64(n) {
		if f.resync(headLen) < 0 {
			f.torn = true
		}
		return record{}, 0, false
	}
	r := record{at: at, typ: recType(rest[8])}
	body := rest[headLen : headLen+int(n) : headLen+int(n)]
	if crc32.Checksum(body, castagnoli()) == binary.LittleEndian.Uint32(rest[16:]) {
		r.body = body
	} else if f.torn = f.unfinished(); f.torn {
		return record{}, 0, false
	}
	return r, headLen + int(n), true
}

// unfinished reports whether the rest was left by an interrupted write.
func (f *frames) unfinished() bool {
	rest := f.data[f.pos:]
	return unwritten(rest) && f.resync(1) < 0
}

// unwritten reports whether b is the space of a record whose data did not reach the disk
// before a power failure: the file has grown, but ends in zeros. No record ends with two
// zeros.
func unwritten(b []byte) bool {
	return bytes.HasSuffix(b, []byte{0, 0}) || len(bytes.Trim(b, "\x00")) == 0
}
