package render

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"quarry/search"
)

// window is the part of a line to show.
type window struct {
	text          []byte
	before, after bool // whether text is omitted on that side
}

// lead is how many eighths of a window precede the match, if the window does not begin at
// the start of the line.
const lead = 2

// cut returns the part of a line to show, chosen by bounds. It has no more than most characters.
func cut(l *search.Line, text []byte, most int) window {
	a, b := bounds(l, text, most)
	return window{text: text[a:b], before: l.CutBefore > 0 || a > 0, after: l.CutAfter > 0 || b < len(text)}
}

// bounds returns the range of a line to show: the start of the line or, if the first match
// would then be invisible, a later part.
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
			if to-start > most { // a long match: show its start
				start = from
			}
		}
	}
	start = max(min(start, total-most), 0)
	a := skip(text, start)
	return a, a + skip(text[a:], most)
}

// Window returns the part of a matching line that an answer shows, no more than most characters,
// and the number of bytes omitted before and after it.
func Window(l *search.Line, most int) (text []byte, before, after int) {
	at, end := bounds(l, l.Text, most)
	return l.Text[at:end], l.CutBefore + at, l.CutAfter + len(l.Text) - end
}

// skip returns the offset of character n of text.
func skip(text []byte, n int) int {
	at := 0
	for ; n > 0 && at < len(text); n-- {
		_, size := utf8.DecodeRune(text[at:])
		at += size
	}
	return at
}

func trimRight(text []byte) []byte { return bytes.TrimRight(text, " \t\r\v\f") }

// appendTotal appends a total. A plus sign means that it is not exact.
func appendTotal(dst []byte, t Total) []byte {
	dst = strconv.AppendInt(dst, int64(t.N), 10)
	if t.More {
		dst = append(dst, '+')
	}
	return dst
}

// Total is a number of results. If More is set, there may be more.
type Total struct {
	N    int
	More bool
}

// String formats the number for printing.
func (t Total) String() string { return string(appendTotal(nil, t)) }
