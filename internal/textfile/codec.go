package textfile

import (
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"quarry/fault"
)

// high1252 has the characters of the bytes 80 to 9F in Windows-1252. All other bytes have
// the number of their character.
var high1252 = [32]rune{
	0x20AC, 0x0081, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
	0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x008D, 0x017D, 0x008F,
	0x0090, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
	0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x009D, 0x017E, 0x0178,
}

func decode1252(b byte) rune {
	if b >= 0x80 && b < 0xA0 {
		return high1252[b-0x80]
	}
	return rune(b)
}

// Decode1252 converts Windows-1252 text to UTF-8.
func Decode1252(b []byte) []byte {
	out := make([]byte, 0, len(b)+len(b)/8)
	for _, c := range b {
		out = utf8.AppendRune(out, decode1252(c))
	}
	return out
}

// Decoded1252 returns the length of Decode1252(b).
func Decoded1252(b []byte) int {
	n := len(b)
	for len(b) > 0 {
		if b = b[asciiRun(b):]; len(b) > 0 {
			n += utf8.RuneLen(decode1252(b[0])) - 1
			b = b[1:]
		}
	}
	return n
}

func encode1252(r rune) (byte, bool) {
	if r < 0x80 || r >= 0xA0 && r <= 0xFF {
		return byte(r), true
	}
	for i, c := range high1252 {
		if c == r {
			return byte(0x80 + i), true
		}
	}
	return 0, false
}

// AppendDecoded appends the decoded text of src to dst and returns the result and the number of bytes of src
// used. src has no byte order mark. Up to 3 bytes of an incomplete character may remain unused: the caller
// passes them again before the next block. With last set, all bytes are used.
//
// An invalid unit, such as a lone surrogate or half a UTF-16 unit at the end, becomes U+FFFD. UTF-8 is copied
// unchanged, whether valid or not.
func (e Encoding) AppendDecoded(dst, src []byte, last bool) ([]byte, int) {
	switch e {
	case UTF16LE, UTF16BE:
		return appendUTF16(dst, src, e == UTF16BE, last)
	case Windows1252:
		for i := 0; i < len(src); {
			n := asciiRun(src[i:])
			dst = append(dst, src[i:i+n]...)
			if i += n; i < len(src) {
				dst = utf8.AppendRune(dst, decode1252(src[i]))
				i++
			}
		}
		return dst, len(src)
	}
	n := len(src)
	if !last {
		n -= partialRune(src)
	}
	return append(dst, src[:n]...), n
}

// asciiRun returns the length of the ASCII prefix of p.
func asciiRun(p []byte) int {
	i := 0
	for ; i+8 <= len(p); i += 8 {
		if binary.LittleEndian.Uint64(p[i:])&0x8080808080808080 != 0 {
			break
		}
	}
	for i < len(p) && p[i] < 0x80 {
		i++
	}
	return i
}

func appendUTF16(dst, src []byte, big, last bool) ([]byte, int) {
	i := 0
	for i < len(src) {
		r, n := nextUTF16(src[i:], big)
		if r == utf8.RuneError && !last && cutUTF16(src[i:], big) {
			break
		}
		if r < utf8.RuneSelf {
			dst = append(dst, byte(r))
		} else {
			dst = utf8.AppendRune(dst, r)
		}
		i += n
	}
	return dst, i
}

func unit(src []byte, big bool) rune {
	if big {
		return rune(src[0])<<8 | rune(src[1])
	}
	return rune(src[1])<<8 | rune(src[0])
}

// nextUTF16 returns the first character of a non-empty src and its length in bytes: 4, 2,
// or 1 for half a unit at the end.
func nextUTF16(src []byte, big bool) (rune, int) {
	if len(src) < 2 {
		return utf8.RuneError, 1
	}
	u := unit(src, big)
	if !utf16.IsSurrogate(u) {
		return u, 2
	}
	if len(src) >= 4 {
		if r := utf16.DecodeRune(u, unit(src[2:], big)); r != utf8.RuneError {
			return r, 4
		}
	}
	return utf8.RuneError, 2
}

// cutUTF16 reports whether src is an incomplete character: half a unit, or a high
// surrogate without its low one.
func cutUTF16(src []byte, big bool) bool {
	return len(src) < 2 || len(src) < 4 && unit(src, big)&0xFC00 == 0xD800
}

// EncodeError reports a character that an encoding can't represent, and its position.
type EncodeError struct {
	Encoding Encoding
	Rune     rune // utf8.RuneError with Invalid set
	Invalid  bool // the text is not valid UTF-8 here
	Offset   int  // in bytes of the text
	Line     int  // 1-based
	Column   int  // in characters, 1-based
}

func (e *EncodeError) Error() string {
	where := fmt.Sprintf("at line %d, column %d of the text", e.Line, e.Column)
	switch {
	case e.Invalid:
		return "the text is not valid UTF-8 " + where
	case e.Rune == 0:
		return fmt.Sprintf("a NUL character (%s) would turn a %s text file into a binary file", where, e.Encoding)
	}
	return fmt.Sprintf("the file is %s, which can't hold %q (U+%04X), %s", e.Encoding, e.Rune, e.Rune, where)
}

func (e *EncodeError) Unwrap() error { return fault.InvalidArgument }

func encodeError(e Encoding, text string, at int) error {
	r, n := utf8.DecodeRuneInString(text[at:])
	start := strings.LastIndexByte(text[:at], '\n') + 1
	return &EncodeError{
		Encoding: e, Rune: r, Invalid: r == utf8.RuneError && n == 1, Offset: at,
		Line:   strings.Count(text[:at], "\n") + 1,
		Column: utf8.RuneCountInString(text[start:at]) + 1,
	}
}

// Append appends text in this encoding to dst, without a byte order mark. If the encoding
// can't represent the text, it returns an *EncodeError and does not change dst. That is
// the case for invalid UTF-8, a NUL outside UTF-16, and in Windows-1252 any character but
// its 256.
func (e Encoding) Append(dst []byte, text string) ([]byte, error) {
	from := len(dst)
	for i := 0; i < len(text); {
		r, n := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(text[i:])
		}
		if r == utf8.RuneError && n == 1 {
			return dst[:from], encodeError(e, text, i)
		}
		ok := true
		switch e {
		case UTF16LE, UTF16BE:
			dst = appendUTF16Rune(dst, r, e == UTF16BE)
		case Windows1252:
			var b byte
			b, ok = encode1252(r)
			dst = append(dst, b)
		default:
			dst = append(dst, text[i:i+n]...)
		}
		if !ok || r == 0 && e != UTF16LE && e != UTF16BE {
			return dst[:from], encodeError(e, text, i)
		}
		i += n
	}
	return dst, nil
}

func appendUTF16Rune(dst []byte, r rune, big bool) []byte {
	put := func(u uint16) {
		if big {
			dst = binary.BigEndian.AppendUint16(dst, u)
		} else {
			dst = binary.LittleEndian.AppendUint16(dst, u)
		}
	}
	if r < 0x10000 {
		put(uint16(r))
		return dst
	}
	hi, lo := utf16.EncodeRune(r)
	put(uint16(hi))
	put(uint16(lo))
	return dst
}
