package cli

import (
	"bufio"
	"bytes"
	"io"
	"strconv"
	"unicode/utf8"

	"quarry"
	"quarry/match"
)

// style is how matching lines are written; ripgrep's, so that people and
// editors can read it.
type style struct {
	heading     bool // the path on a line of its own
	path        bool
	lineNumber  bool
	column      bool
	byteOffset  bool
	onlyMatches bool
	replace     *string
	maxColumns  int
	nul         bool // NUL after a path instead of : or a line feed
	trim        bool
	colour      bool
	escape      bool // control characters shown escaped: a terminal
	context     bool // separate groups that aren't adjacent
	vimgrep     bool
}

// Colours are ripgrep's: magenta paths, green line numbers, bold red matches.
const (
	cPath  = "\x1b[0m\x1b[35m"
	cLine  = "\x1b[0m\x1b[32m"
	cMatch = "\x1b[0m\x1b[1m\x1b[31m"
	cReset = "\x1b[0m"
)

// printer writes files with matches.
type printer struct {
	w     *bufio.Writer
	style style
	m     *match.Matcher // for replacements
	files int
	row   []byte
	slots []int
	err   error
}

func newPrinter(w io.Writer, s style, m *match.Matcher) *printer {
	return &printer{w: bufio.NewWriterSize(w, 64<<10), style: s, m: m}
}

func (p *printer) put(s string)      { p.row = append(p.row, s...) }
func (p *printer) putBytes(b []byte) { p.row = append(p.row, b...) }

func (p *printer) coloured(code string, write func()) {
	if !p.style.colour {
		write()
		return
	}
	p.put(code)
	write()
	p.put(cReset)
}

// flushRow sends a finished row on.
func (p *printer) flushRow() error {
	_, err := p.w.Write(p.row)
	p.row = p.row[:0]
	return err
}

func (p *printer) flush() error { return p.w.Flush() }

// text writes text of a file or a name, safe for the place it goes to.
func (p *printer) text(b []byte) {
	if p.style.escape {
		p.row = appendEscaped(p.row, b)
		return
	}
	p.putBytes(b)
}

func (p *printer) pathRow(path string, end byte) error {
	p.coloured(cPath, func() { p.text([]byte(path)) })
	p.row = append(p.row, end)
	return p.flushRow()
}

// file writes the lines of a file.
func (p *printer) file(path string, f *quarry.File) error {
	if p.style.heading && p.style.path {
		if p.files > 0 {
			p.row = append(p.row, '\n')
		}
		end := byte('\n')
		if p.style.nul {
			end = 0
		}
		if err := p.pathRow(path, end); err != nil {
			return err
		}
	} else if p.files > 0 && p.style.context {
		p.put("--\n")
	}
	p.files++
	last := 0
	for i := range f.Lines {
		l := &f.Lines[i]
		if p.style.context && last > 0 && l.Number > last+1 {
			p.put("--\n")
		}
		last = l.Number
		p.line(path, l)
		if err := p.flushRow(); err != nil {
			return err
		}
	}
	return nil
}

func (p *printer) line(path string, l *quarry.Line) {
	if l.Hit && (p.style.onlyMatches || p.style.vimgrep) {
		p.eachMatch(path, l)
		return
	}
	if p.style.onlyMatches {
		return // context has no match to show
	}
	p.prefix(path, l, spanStart(l, 0), l.Offset)
	p.lineText(l)
	p.row = append(p.row, '\n')
}

func (p *printer) eachMatch(path string, l *quarry.Line) {
	for i, s := range l.Spans {
		p.prefix(path, l, s.Start, l.Offset+int64(s.Start))
		if p.style.vimgrep {
			p.lineText(l)
		} else if p.style.replace != nil {
			p.replacement(l.Text, s)
		} else {
			p.coloured(cMatch, func() { p.text(l.Text[s.Start:s.End]) })
		}
		p.row = append(p.row, '\n')
		_ = i
	}
}

func spanStart(l *quarry.Line, i int) int {
	if i < len(l.Spans) {
		return l.Spans[i].Start
	}
	return 0
}

// prefix writes path, line number and column, each followed by : on a matching
// line and - on context.
func (p *printer) prefix(path string, l *quarry.Line, column int, offset int64) {
	sep := byte('-')
	if l.Hit {
		sep = ':'
	}
	if p.style.path && !p.style.heading {
		p.coloured(cPath, func() { p.text([]byte(path)) })
		if p.style.nul {
			p.row = append(p.row, 0)
		} else {
			p.row = append(p.row, sep)
		}
	}
	number := func(n int64) {
		p.coloured(cLine, func() { p.row = strconv.AppendInt(p.row, n, 10) })
		p.row = append(p.row, sep)
	}
	if p.style.lineNumber {
		number(int64(l.Number))
	}
	if p.style.column && l.Hit {
		number(int64(column) + 1)
	}
	if p.style.byteOffset {
		number(offset)
	}
}

// lineText writes a line's text with its matches marked or replaced.
func (p *printer) lineText(l *quarry.Line) {
	text := l.Text
	if p.style.trim {
		text = bytes.TrimLeft(text, " \t")
	}
	if p.style.maxColumns > 0 && len(text) > p.style.maxColumns {
		p.omitted(l)
		return
	}
	shift := len(l.Text) - len(text)
	at := 0
	for _, s := range l.Spans {
		start, end := max(s.Start-shift, at), max(s.End-shift, at)
		if !l.Hit || start > len(text) {
			break
		}
		p.text(text[at:start])
		if p.style.replace != nil {
			p.coloured(cMatch, func() { p.replacement(l.Text, s) })
		} else if end > start {
			p.coloured(cMatch, func() { p.text(text[start:end]) })
		}
		at = end
	}
	p.text(text[at:])
}

func (p *printer) omitted(l *quarry.Line) {
	switch {
	case !l.Hit:
		p.put("[Omitted long context line]")
	case len(l.Spans) > 0:
		p.put("[Omitted long line with " + strconv.Itoa(len(l.Spans)) + " matches]")
	default:
		p.put("[Omitted long matching line]")
	}
}

// replacement writes what a match is replaced by: $1, ${1}, $name, ${name}
// stand for groups, $$ for a dollar sign.
func (p *printer) replacement(text []byte, s quarry.Span) {
	slots, ok := p.m.Captures(text, s.Start, p.slots)
	if !ok {
		p.text(text[s.Start:s.End])
		return
	}
	p.slots = slots
	tmpl := *p.style.replace
	for len(tmpl) > 0 {
		i := indexDollar(tmpl)
		p.text([]byte(tmpl[:i]))
		tmpl = tmpl[i:]
		if tmpl == "" {
			return
		}
		if len(tmpl) > 1 && tmpl[1] == '$' {
			p.put("$")
			tmpl = tmpl[2:]
			continue
		}
		name, size := groupName(tmpl)
		if size == 0 {
			p.put("$")
			tmpl = tmpl[1:]
			continue
		}
		if g := p.group(name); g >= 0 && slots[2*g] >= 0 {
			p.text(text[slots[2*g]:slots[2*g+1]])
		}
		tmpl = tmpl[size:]
	}
}

func indexDollar(s string) int {
	for i := range len(s) {
		if s[i] == '$' {
			return i
		}
	}
	return len(s)
}

// groupName reads $name or ${name} at the start of s.
func groupName(s string) (name string, size int) {
	if len(s) > 1 && s[1] == '{' {
		for i := 2; i < len(s); i++ {
			if s[i] == '}' {
				return s[2:i], i + 1
			}
		}
		return "", 0
	}
	i := 1
	for i < len(s) && (s[i] == '_' || '0' <= s[i] && s[i] <= '9' || 'a' <= s[i]|0x20 && s[i]|0x20 <= 'z') {
		i++
	}
	if i == 1 {
		return "", 0
	}
	return s[1:i], i
}

func (p *printer) group(name string) int {
	names := p.m.Pattern().GroupNames()
	if n, err := strconv.Atoi(name); err == nil {
		if n < len(names) {
			return n
		}
		return -1
	}
	for i, have := range names {
		if have == name && i > 0 {
			return i
		}
	}
	return -1
}

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
