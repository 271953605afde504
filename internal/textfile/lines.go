package textfile

import (
	"bytes"
	"iter"
	"sort"
)

// Ending is the kind of a line ending. The zero value is LF, which is also assumed for
// text without any line ending.
type Ending uint8

const (
	// LF is a lone newline.
	LF Ending = iota
	// CRLF is a carriage return and a newline, together one ending. A lone carriage
	// return is not an ending but a character of its line.
	CRLF
)

// String returns the bytes of the ending.
func (e Ending) String() string {
	if e == CRLF {
		return "\r\n"
	}
	return "\n"
}

// Name returns "lf" or "crlf".
func (e Ending) Name() string {
	if e == CRLF {
		return "crlf"
	}
	return "lf"
}

// Endings counts the line endings of a text.
type Endings struct {
	LF, CRLF int
	first    Ending
}

// CountEndings counts the line endings of text.
func CountEndings(text []byte) Endings {
	var e Endings
	newlines := bytes.Count(text, []byte{'\n'})
	for at := 0; ; {
		i := bytes.IndexByte(text[at:], '\r')
		if i < 0 {
			break
		}
		if at += i + 1; at < len(text) && text[at] == '\n' {
			e.CRLF++
			at++
		}
	}
	e.LF = newlines - e.CRLF
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		e.first = CRLF
	}
	return e
}

// EndingCounter is CountEndings for a text that arrives in blocks.
type EndingCounter struct {
	e  Endings
	cr bool // the last block ended with \r
}

// Write counts the endings of the next block. It never fails.
func (c *EndingCounter) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	split := c.cr && p[0] == '\n'
	more := CountEndings(p)
	if split {
		more.LF, more.CRLF, more.first = more.LF-1, more.CRLF+1, CRLF
	}
	if c.e.LF+c.e.CRLF == 0 {
		c.e.first = more.first
	}
	c.e.LF, c.e.CRLF = c.e.LF+more.LF, c.e.CRLF+more.CRLF
	c.cr = p[len(p)-1] == '\r'
	return len(p), nil
}

// Endings returns the counts so far.
func (c *EndingCounter) Endings() Endings { return c.e }

// Dominant returns the ending of most lines or, in a tie, of the first line.
func (e Endings) Dominant() Ending {
	switch {
	case e.CRLF > e.LF:
		return CRLF
	case e.LF > e.CRLF:
		return LF
	}
	return e.first
}

// Mixed reports whether both endings occur.
func (e Endings) Mixed() bool { return e.LF > 0 && e.CRLF > 0 }

// String returns "lf", "crlf", "mixed", or "none" for text without an ending.
func (e Endings) String() string {
	switch {
	case e.Mixed():
		return "mixed"
	case e.LF+e.CRLF == 0:
		return "none"
	}
	return e.Dominant().Name()
}

// EndingAt returns the ending for new text at an offset: that of the line at the offset, or else of the
// line before, or else LF.
func EndingAt(text []byte, offset int) Ending {
	if i := bytes.IndexByte(text[offset:], '\n'); i >= 0 {
		return endingOf(text, offset+i)
	}
	return endingOf(text, bytes.LastIndexByte(text[:offset], '\n'))
}

func endingOf(text []byte, newline int) Ending {
	if newline > 0 && text[newline-1] == '\r' {
		return CRLF
	}
	return LF
}

// Line is the position of one line in the text: [Start, Content) is its content,
// [Content, End) its ending, which is empty for a last line without one.
type Line struct{ Start, Content, End int }

// Lines finds lines by number, and line numbers by offset. A newline ends a line and does
// not start one: "a\nb\n" has two lines, the empty text none.
//
// It stores one count for each 32 KiB of text and searches within such a block, so the
// index of 100 MB takes 25 KB, not 8 bytes per line.
type Lines struct {
	text   []byte
	before []int // newlines before each block and, at the end, in all blocks
	count  int
}

const lineBlock = 32 << 10

// IndexLines makes the index of text, which must not be modified afterwards.
func IndexLines(text []byte) *Lines {
	l := &Lines{text: text, before: make([]int, 1, len(text)/lineBlock+2)}
	for at := 0; at < len(text); at += lineBlock {
		l.count += bytes.Count(text[at:min(at+lineBlock, len(text))], []byte{'\n'})
		l.before = append(l.before, l.count)
	}
	if len(text) > 0 && text[len(text)-1] != '\n' {
		l.count++
	}
	return l
}

// Count returns the number of lines.
func (l *Lines) Count() int { return l.count }

// Line returns the position of line n, counted from 1, and false if there is none.
func (l *Lines) Line(n int) (Line, bool) {
	if n < 1 || n > l.count {
		return Line{}, false
	}
	return lineAt(l.text, l.start(n)), true
}

// start returns the offset after newline number n-1.
func (l *Lines) start(n int) int {
	want := n - 1
	if want == 0 {
		return 0
	}
	b := sort.SearchInts(l.before, want) - 1
	at := b * lineBlock
	return at + afterNewlines(l.text[at:], want-l.before[b])
}

// afterNewlines returns the offset after the n-th newline of text, which must exist.
// Counting newlines in steps of 512 bytes takes 1.5 µs for a block with lines of four
// bytes; searching for each newline takes 150 µs.
func afterNewlines(text []byte, n int) int {
	const stride = 512
	at := 0
	for len(text)-at > stride {
		c := bytes.Count(text[at:at+stride], newline)
		if c >= n {
			break
		}
		n -= c
		at += stride
	}
	for ; n > 0; n-- {
		at += bytes.IndexByte(text[at:], '\n') + 1
	}
	return at
}

func lineAt(text []byte, start int) Line {
	i := bytes.IndexByte(text[start:], '\n')
	if i < 0 {
		return Line{start, len(text), len(text)}
	}
	content := start + i
	if i > 0 && text[content-1] == '\r' {
		content--
	}
	return Line{start, content, start + i + 1}
}

// From yields line n and all later lines, in one pass over the text.
func (l *Lines) From(n int) iter.Seq2[int, Line] {
	return func(yield func(int, Line) bool) {
		if n < 1 || n > l.count {
			return
		}
		for at, i := l.start(n), n; i <= l.count; i++ {
			line := lineAt(l.text, at)
			if !yield(i, line) {
				return
			}
			at = line.End
		}
	}
}

// At returns the number of the line with the byte at offset. The end of a text whose last
// line has an ending counts as a further line.
func (l *Lines) At(offset int) int {
	offset = max(0, min(offset, len(l.text)))
	b := offset / lineBlock
	return l.before[b] + bytes.Count(l.text[b*lineBlock:offset], []byte{'\n'}) + 1
}
