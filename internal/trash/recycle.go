package trash

import (
	"encoding/binary"
	"errors"
	"path"
	"strings"
	"time"
	"unicode/utf16"
)

// In Windows' recycle bin an item is named $R plus six characters, and its record, in the
// same folder, $I plus the same six. Both keep the extension of the original. A record
// has, in little endian: a version; the original's size; the time of deletion in units of
// 100 ns since 1601; in version 2 (Windows 10) the number of characters of the path
// including a NUL; and the path in UTF-16. Version 1 (Vista) has no length, and space for
// 260 characters.
const (
	recycledThing  = "$R"
	recycledRecord = "$I"
	recycleHead    = 24
	recycleV1Path  = 2 * 260
	// windowsEpoch is 1970 in units of 100 ns since 1601.
	windowsEpoch = 116444736000000000
)

// encodeRecycled encodes a record of version 2. The time is rounded to seconds, as in
// other trashes.
func (r record) encodeRecycled() []byte {
	name := append(utf16.Encode([]rune(strings.ReplaceAll(r.path, "/", `\`))), 0)
	b := make([]byte, 0, recycleHead+4+2*len(name))
	b = binary.LittleEndian.AppendUint64(b, 2)
	b = binary.LittleEndian.AppendUint64(b, uint64(r.size))
	b = binary.LittleEndian.AppendUint64(b, uint64(r.deleted.Unix()*1e7+windowsEpoch))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(name)))
	for _, u := range name {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return b
}

var errRecycled = errors.New("not a record of the recycle bin")

func parseRecycled(b []byte) (record, error) {
	if len(b) < recycleHead {
		return record{}, errRecycled
	}
	r := record{size: int64(binary.LittleEndian.Uint64(b[8:]))}
	if ticks := int64(binary.LittleEndian.Uint64(b[16:])); ticks > windowsEpoch && ticks < windowsEpoch*4 {
		r.deleted = time.Unix(0, 0).Add(time.Duration(ticks-windowsEpoch) * 100)
	}
	text := b[recycleHead:]
	switch binary.LittleEndian.Uint64(b) {
	case 1:
		text = text[:min(len(text), recycleV1Path)]
	case 2:
		if len(text) < 4 {
			return record{}, errRecycled
		}
		n := int64(binary.LittleEndian.Uint32(text))
		if text = text[4:]; 2*n > int64(len(text)) {
			return record{}, errRecycled
		}
		text = text[:2*n]
	default:
		return record{}, errRecycled
	}
	var name []uint16
	for ; len(text) >= 2; text = text[2:] {
		u := binary.LittleEndian.Uint16(text)
		if u == 0 {
			break
		}
		name = append(name, u)
	}
	r.path = path.Clean(strings.ReplaceAll(string(utf16.Decode(name)), `\`, "/"))
	if len(r.path) < 4 || r.path[1] != ':' || r.path[2] != '/' {
		return record{}, errNoPath
	}
	return r, nil
}

const recycleLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// recycledName returns a random name, which is one of 2 billion and so very likely free.
func recycledName(base string, random func(n int) int) string {
	var six [6]byte
	for i := range six {
		six[i] = recycleLetters[random(len(recycleLetters))]
	}
	ext := path.Ext(base)
	if ext == base || len(ext) > 32 {
		ext = ""
	}
	return recycledThing + string(six[:]) + ext
}
