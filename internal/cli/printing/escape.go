package printing

import (
	"io"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// AppendEscaped writes text so that it can't move the cursor or hide what
// follows: control, bidirectional and invisible characters become escapes.
func AppendEscaped(dst, b []byte) []byte {
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

// Escape is appendEscaped for a string.
func Escape(s string) string { return string(AppendEscaped(nil, []byte(s))) }

// EscapeLines is appendEscaped for a text of several lines, which stay lines.
func EscapeLines(text string) string {
	var safe []byte
	for line := range strings.Lines(text) {
		body, ended := strings.CutSuffix(line, "\n")
		safe = AppendEscaped(safe, []byte(body))
		if ended {
			safe = append(safe, '\n')
		}
	}
	return string(safe)
}

// JSONWriter is where an encoder writes to: for a terminal, what its strings hold
// of tricky characters becomes JSON's own escapes. The value is the same.
func JSONWriter(w io.Writer, tty bool) io.Writer {
	if !tty {
		return w
	}
	return plainJSON{w}
}

type plainJSON struct{ w io.Writer }

// Write takes whole values, as an encoder gives them.
func (p plainJSON) Write(b []byte) (int, error) {
	safe := make([]byte, 0, len(b)+len(b)/8)
	for rest := b; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		switch {
		case r != 0x7f && !isTricky(r):
			safe = append(safe, rest[:size]...)
		case r >= 0x10000:
			high, low := utf16.EncodeRune(r)
			safe = appendUnit(appendUnit(safe, high), low)
		default:
			safe = appendUnit(safe, r)
		}
		rest = rest[size:]
	}
	if _, err := p.w.Write(safe); err != nil {
		return 0, err
	}
	return len(b), nil
}

func appendUnit(dst []byte, r rune) []byte {
	return append(dst, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}
