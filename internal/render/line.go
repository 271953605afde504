package render

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"quarry/search"
)

// window is the part of a line that is shown.
type window struct {
	text          []byte
	before, after bool // something is missing there
}

// lead is the part of a window, in eighths, that lies before the match when the
// window had to move.
const lead = 2

// cut takes at most so many characters of a line, see bounds.
func cut(l *search.Line, text []byte, most int) window {
	a, b := bounds(l, text, most)
	return window{text: text[a:b], before: l.CutBefore > 0 || a > 0, after: l.CutAfter > 0 || b < len(text)}
}

// bounds returns the shown part of a line. It is the beginning, or a part
// further on if the first match would not be visible otherwise.
func bounds(l *search.Line, text []byte, most int) (from, to int) {
	total := utf8.RuneCount(text)
	if total <= most {
		return 0, len(text)
	}
	start := 0
	if len(l.Spans) > 0 {
		s := l.Spans[0]
		from := utf8.RuneCount(text[:min(s.Start, len(text))])
		to := from + utf8.RuneCount(text[min(s.Start, len(text)):min(s.End, len(text))])
		if to > most {
			start = from - most*lead/8
			if to-start > most { // a long match: from its start
				start = from
			}
		}
	}
	start = max(min(start, total-most), 0)
	a := skip(text, start)
	return a, a + skip(text[a:], most)
}

// Window is the part of a matching line that an answer shows, of at most so many
// characters, and the bytes of the line that are missing before and after it.
func Window(l *search.Line, most int) (text []byte, before, after int) {
	at, end := bounds(l, l.Text, most)
	return l.Text[at:end], l.CutBefore + at, l.CutAfter + len(l.Text) - end
}

// skip returns where character n of text begins.
func skip(text []byte, n int) int {
	at := 0
	for ; n > 0 && at < len(text); n-- {
		_, size := utf8.DecodeRune(text[at:])
		at += size
	}
	return at
}

func trimRight(text []byte) []byte { return bytes.TrimRight(text, " \t\r\v\f") }

// appendTotal appends a total; one that is not exact has a plus.
func appendTotal(dst []byte, t Total) []byte {
	dst = strconv.AppendInt(dst, int64(t.N), 10)
	if t.More {
		dst = append(dst, '+')
	}
	return dst
}

// Total is a number of results; with More there are at least that many.
type Total struct {
	N    int
	More bool
}

// String is the number as it is printed.
func (t Total) String() string { return string(appendTotal(nil, t)) }
