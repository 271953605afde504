package cli

import (
	"strconv"
	"unicode/utf8"
)

// appendEscaped writes text so that it can't move the cursor or hide what
// follows: control, bidirectional and invisible characters become escapes.
func appendEscaped(dst, b []byte) []byte {
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		switch {
		case r == '\t':
			dst = append(dst, '\t')
		case r == utf8.RuneError && size <= 1:
			dst = append(dst, `\x`...)
			dst = append(dst, hexDigits[b[0]>>4], hexDigits[b[0]&15])
		case r < 0x20 || r == 0x7f:
			dst = append(dst, `\x`...)
			dst = append(dst, hexDigits[r>>4], hexDigits[r&15])
		case isTricky(r):
			dst = append(dst, `\u{`...)
			dst = strconv.AppendInt(dst, int64(r), 16)
			dst = append(dst, '}')
		default:
			dst = append(dst, b[:size]...)
		}
		b = b[max(size, 1):]
	}
	return dst
}

const hexDigits = "0123456789abcdef"

// isTricky reports characters that change how text around them is shown: C1
// controls, bidirectional marks and tags.
func isTricky(r rune) bool {
	return 0x80 <= r && r < 0xa0 ||
		r == 0x61c || 0x200e <= r && r <= 0x200f || 0x202a <= r && r <= 0x202e ||
		0x2066 <= r && r <= 0x2069 || 0xe0000 <= r && r <= 0xe007f || r == 0xfeff
}
