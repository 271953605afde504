package printing

import (
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// AppendEscaped appends b to dst in a form that can't move the cursor, hide later text or look like
// another text: it escapes control, bidirectional and invisible characters.
func AppendEscaped(dst, b []byte) []byte {
	var before rune
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
		case isTricky(r) || isStray(before, r, b[size:]):
			dst = append(dst, `\u{`...)
			dst = strconv.AppendInt(dst, int64(r), 16)
			dst = append(dst, '}')
		default:
			dst = append(dst, b[:size]...)
		}
		before, b = r, b[max(size, 1):]
	}
	return dst
}

const hexDigits = "0123456789abcdef"

// isTricky reports whether r is invisible or changes how the text around it is displayed: C1
// controls, bidirectional marks, zero-width spaces, fillers and tags. dom.js has the same list for
// the page.
func isTricky(r rune) bool {
	if r < 0x80 {
		return false
	}
	return r < 0xa0 || unicode.Is(tricky, r)
}

var tricky = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0xad, Hi: 0xad, Stride: 1},
		{Lo: 0x34f, Hi: 0x34f, Stride: 1},
		{Lo: 0x61c, Hi: 0x61c, Stride: 1},
		{Lo: 0x115f, Hi: 0x1160, Stride: 1},
		{Lo: 0x17b4, Hi: 0x17b5, Stride: 1},
		{Lo: 0x180e, Hi: 0x180e, Stride: 1},
		{Lo: 0x200b, Hi: 0x200b, Stride: 1},
		{Lo: 0x200e, Hi: 0x200f, Stride: 1},
		{Lo: 0x2028, Hi: 0x202e, Stride: 1},
		{Lo: 0x2060, Hi: 0x206f, Stride: 1},
		{Lo: 0x3164, Hi: 0x3164, Stride: 1},
		{Lo: 0xfe00, Hi: 0xfe0d, Stride: 1},
		{Lo: 0xfeff, Hi: 0xfeff, Stride: 1},
		{Lo: 0xffa0, Hi: 0xffa0, Stride: 1},
		{Lo: 0xfff9, Hi: 0xfffb, Stride: 1},
		{Lo: 0xfffe, Hi: 0xffff, Stride: 1},
	},
	R32:         []unicode.Range32{{Lo: 0xe0000, Hi: 0xe0fff, Stride: 1}},
	LatinOffset: 1,
}

// isStray reports whether r, a joiner or an emoji's variation selector, has no function where it
// is. Such characters belong between letters of some scripts and in emoji. Next to ASCII they only
// make a name look like another.
func isStray(before, r rune, after []byte) bool {
	switch r {
	case 0x200c, 0x200d:
		return ascii(before) || len(after) > 0 && after[0] < utf8.RuneSelf
	case 0xfe0e, 0xfe0f:
		return ascii(before) && !strings.ContainsRune("0123456789#*", before) // keycap emoji begin with one of these
	}
	return false
}

// ascii reports whether r is an ASCII character other than 0; 0 means that no character precedes.
func ascii(r rune) bool { return 0 < r && r < utf8.RuneSelf }

// Escape is like AppendEscaped, for a string.
func Escape(s string) string { return string(AppendEscaped(nil, []byte(s))) }

// EscapeLines is like Escape for a text of several lines; it keeps the line feeds.
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

// JSONWriter returns a writer for a JSON encoder. For a terminal, it turns tricky characters in
// strings into JSON escapes, which does not change the value.
func JSONWriter(w io.Writer, tty bool) io.Writer {
	if !tty {
		return w
	}
	return plainJSON{w}
}

type plainJSON struct{ w io.Writer }

// Write expects a whole JSON value at a time, as encoders write them.
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
