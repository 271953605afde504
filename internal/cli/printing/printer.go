// Package printing writes the output of the command line: matching lines in ripgrep's format, JSON
// Lines, colour, progress and wrapped text.
//
// It does not depend on flags or streams. It escapes file text for a terminal, so that the text
// can't move the cursor or hide later text.
package printing

import (
	"bytes"
	"cmp"
	"io"
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"

	"quarry/internal/replacer"
	"quarry/search"
)

// Style is the format of matching lines. The default is ripgrep's, which people and editors can
// read.
type Style struct {
	Heading     bool // print the path on a line of its own
	Path        bool
	LineNumber  bool
	Column      bool
	ByteOffset  bool
	OnlyMatches bool
	MaxColumns  int
	Nul         bool // end a path with NUL instead of : or a line feed
	Trim        bool
	Colour      bool
	Escape      bool // escape control characters, for a terminal
	Context     bool // separate groups of lines that aren't adjacent
	Vimgrep     bool
	Multiline   bool // matches may span lines
	Spans       bool // the matches in a line were requested too

	Colours      Colours // the zero value means ripgrep's
	Links        Links
	MatchSep     string // after each field before a matching line; "" means :
	ContextSep   string // the same for context lines; "" means -
	NoFieldSep   bool   // use the separators as given, even if empty
	GroupSep     string // between groups of lines that aren't adjacent; "" means --
	NoGroupSep   bool   // no separator between groups
	Preview      bool   // show the start of lines longer than MaxColumns
	PathSep      string // replaces / in paths; "" keeps it
	Passthru     bool   // print all lines, without separators
	NulLines     bool   // NUL ends a line, and replaces line feeds in the text
	Eager        bool   // write the lines of a file as soon as they are found
	BinaryNotice bool   // mention matches of binary files without showing them
	BinaryLines  bool   // print lines before a NUL, and then mention the NUL
	KeepCR       bool   // \r before a line feed is part of the line
	CRLF         bool   // add \r\n where the text has no line ending
	Symbols      bool   // print the line that begins the definition around a match, as git grep -p does
}

// Reset ends a colour.
const Reset = "\x1b[0m"

// printer prints the matches of files.
type printer struct {
	rows
	style   Style
	replace *replacer.Template // nil shows matches unchanged
	files   int
	open    bool       // more parts of the current file follow
	hits    bool       // the current file has had a matching line
	last    int        // number of the last line printed
	since   int        // number of the first line of the current group of adjacent lines
	symbol  int        // number of the last printed line that begins a definition
	shown   shownBlock // the current block, whose buffers are reused
}

func newPrinter(w io.Writer, s Style, r *replacer.Template) *printer {
	if s.Colours == (Colours{}) {
		s.Colours = defaultColours
	}
	if !s.NoFieldSep {
		s.MatchSep, s.ContextSep, s.GroupSep = cmp.Or(s.MatchSep, ":"), cmp.Or(s.ContextSep, "-"), cmp.Or(s.GroupSep, "--")
	}
	return &printer{rows: rows{w: w, eager: s.Escape || s.Eager}, style: s, replace: r}
}

func (p *printer) put(s string) { p.row = append(p.row, s...) }

func (p *printer) coloured(code string, b []byte) {
	if !p.style.Colour || code == "" {
		p.text(b)
		return
	}
	p.put(code)
	p.text(b)
	p.put(Reset)
}

// name writes a path, as a link if links are on.
func (p *printer) name(path string, line, column int) {
	linked := p.style.Links.on() && p.style.Colour
	if linked {
		p.put(p.style.Links.open(path, line, column))
		defer p.put(closeLink)
	}
	if p.style.PathSep != "" {
		path = strings.ReplaceAll(path, "/", p.style.PathSep)
	}
	if p.style.Colour || p.style.Escape {
		p.coloured(p.style.Colours.Path, []byte(path))
		return
	}
	p.put(path)
}

// text writes a part of a line or a name, escaped if the style requires it.
func (p *printer) text(b []byte) {
	if p.style.Escape {
		p.row = AppendEscaped(p.row, b)
		return
	}
	if p.style.NulLines {
		p.row = append(p.row, bytes.ReplaceAll(b, []byte{0}, []byte{'\n'})...)
		return
	}
	p.bytes(b)
}

// pathRow writes a path on a line of its own.
func (p *printer) pathRow(path string) error {
	p.name(path, 0, 0)
	if p.style.Nul {
		p.row = append(p.row, 0)
	} else {
		p.lineEnding()
	}
	return p.flushRow()
}

// shownBlock is the unit of output: a line or, in multiline mode, the adjacent lines that matches
// touch. Replacements are already made.
type shownBlock struct {
	path   string
	hit    bool
	number int           // of the first line
	offset int64         // of the first byte
	text   []byte        // with line endings, except for a single line
	spans  []search.Span // in text
	found  int           // matches before replacement
	buf    []byte        // reused
}

// File writes the lines of a file, or its next part.
func (p *printer) File(path string, f *search.FileMatch) error {
	p.hits = p.open && p.hits || f.Matched > 0
	if p.style.BinaryNotice && f.NUL > 0 && (!p.style.BinaryLines || len(f.Lines) == 0 && !p.open) {
		return p.binary(path, f)
	}
	if !p.open {
		p.begin(path)
	}
	p.open = f.More
	if p.plain() {
		p.plainLines(path, f.Lines)
		return p.endFile(path, f)
	}
	for lines := range blocksOf(f.Lines, p.style.Multiline) {
		p.separate(lines[0].Number)
		if lines[0].Number > p.last+1 {
			p.since = lines[0].Number
		}
		p.around(path, &lines[0])
		p.last = lines[len(lines)-1].Number
		p.block(p.show(path, lines))
		if p.flushRow() != nil {
			break
		}
	}
	return p.endFile(path, f)
}

// endFile finishes a file; if a NUL ended its search, it mentions that.
func (p *printer) endFile(path string, f *search.FileMatch) error {
	if p.style.BinaryLines && f.NUL > 0 && !f.More {
		return p.binary(path, f)
	}
	return p.done()
}

// separate prints a separator if line next isn't adjacent to the last line.
func (p *printer) separate(next int) {
	if p.style.Context && p.last > 0 && next > p.last+1 {
		p.groupSep()
	}
}

func (p *printer) groupSep() {
	if !p.style.NoGroupSep {
		p.put(p.style.GroupSep)
		p.lineEnding()
	}
}

// around writes the line that begins the definition around a match, unless it was the last such
// line written.
func (p *printer) around(path string, l *search.Line) {
	s := l.Symbol
	if !p.style.Symbols || s == nil || s.Line == p.symbol {
		return
	}
	p.symbol = s.Line
	if s.Line >= p.since {
		return
	}
	const sep = "="
	if p.style.Path && !p.style.Heading {
		p.name(path, s.Line, 1)
		p.put(sep)
	}
	if p.style.LineNumber {
		p.field(p.style.Colours.Line, int64(s.Line), sep)
	}
	p.text([]byte(s.Signature))
	p.row = append(p.row, '\n')
}

// binary prints that a binary file matches.
func (p *printer) binary(path string, f *search.FileMatch) error {
	if f.More {
		return nil // already mentioned
	}
	if !p.hits { // all lines so far are context
		return p.done()
	}
	if p.style.Path {
		p.name(path, 0, 0)
		p.put(": ")
	}
	if f.AtNUL {
		p.put("WARNING: stopped searching binary file after match")
	} else {
		p.put("binary file matches")
	}
	p.put(" (found \"\\0\" byte around offset " + strconv.FormatInt(f.NUL-1, 10) + ")\n")
	p.files++
	return p.done()
}

// begin writes the header before the first line of a file.
func (p *printer) begin(path string) {
	if p.style.Heading {
		if p.files > 0 {
			p.lineEnding()
		}
		if p.style.Path {
			p.pathRow(path)
		}
	} else if p.files > 0 && p.style.Context && !p.style.Passthru {
		p.groupSep()
	}
	p.files++
	p.last, p.since, p.symbol = 0, 0, 0
}

// blocksOf yields the lines of each block: in multiline mode several, otherwise one.
func blocksOf(lines []search.Line, multiline bool) iter.Seq[[]search.Line] {
	return func(yield func([]search.Line) bool) {
		for i := 0; i < len(lines); {
			j := i + 1
			for multiline && j < len(lines) && lines[i].Hit && lines[j].Hit &&
				lines[i].Block == lines[j].Block && lines[j].Number == lines[j-1].Number+1 {
				j++
			}
			if !yield(lines[i:j]) {
				return
			}
			i = j
		}
	}
}

// joined appends the text of a block to dst and returns the block's matches as offsets in the text.
func joined(dst []byte, lines []search.Line) (text []byte, spans []search.Span) {
	if len(lines) == 1 && lines[0].Whole == nil {
		return append(append(dst, lines[0].Text...), lines[0].Ending...), lines[0].Spans
	}
	for i := range lines {
		at := len(dst)
		dst = append(append(dst, lines[i].Text...), lines[i].Ending...)
		for _, s := range lines[i].Whole {
			spans = append(spans, search.Span{Start: at + s.Start, End: at + s.End})
		}
	}
	return dst, spans
}

func (p *printer) show(path string, lines []search.Line) *shownBlock {
	b := &p.shown
	b.path, b.hit, b.number, b.offset = path, lines[0].Hit, lines[0].Number, lines[0].Offset
	if len(lines) == 1 && lines[0].Whole == nil && p.replace == nil && p.style.MaxColumns == 0 && !p.style.CRLF {
		b.text, b.spans = lines[0].Text, lines[0].Spans // a single line is shown without its line ending
	} else {
		b.buf, b.spans = joined(b.buf[:0], lines)
		b.text = b.buf
	}
	if !p.style.Spans {
		b.spans = nil
	}
	b.found = len(b.spans)
	if p.replace != nil && b.found > 0 {
		// In line mode, the pattern does not see the line ending.
		end := len(b.text)
		if !p.style.Multiline {
			end = len(lines[0].Text)
		}
		ending := b.text[end:]
		b.text, b.spans = replaced(p.replace, b.text[:end:end], b.spans)
		b.text = append(b.text, ending...)
	}
	return b
}

func (p *printer) block(b *shownBlock) {
	switch several := p.style.Multiline && b.hit; {
	case p.style.OnlyMatches && b.found > 0 && several:
		p.partsByLine(b)
	case p.style.OnlyMatches && b.found > 0:
		for i, s := range b.spans {
			p.prefix(b, b.number, s.Start, b.offset+int64(s.Start))
			p.lineText(b, s.Start, s.End, b.spans[i:i+1])
		}
	case p.style.Vimgrep && b.found > 0:
		p.linePerMatch(b, several)
	default:
		p.allLines(b, several)
	}
}

// allLines writes every line of a block. A line without a column of its own gets the column of the
// block's first match.
func (p *printer) allLines(b *shownBlock, several bool) {
	column := -1
	if b.found > 0 {
		column = b.spans[0].Start
	}
	for start, n := 0, 0; start < len(b.text) || n == 0; n++ {
		end := b.lineEnd(start, several)
		p.prefix(b, b.number+n, column, b.offset+int64(start))
		p.lineText(b, start, end, b.spans)
		start = end
	}
}

// partsByLine writes only the matching text. A match over several lines is split into one part per
// line.
func (p *printer) partsByLine(b *shownBlock) {
	next := 0
	for start, n := 0, 0; start < len(b.text); n++ {
		end := b.lineEnd(start, true)
		at, stop := start, p.contentEnd(b.text, start, end)
		if p.style.Trim {
			at += leadingSpace(b.text[at:stop])
		}
		for at < stop {
			for next < len(b.spans) && (b.spans[next].End <= at || b.spans[next].Start == b.spans[next].End) {
				next++
			}
			if next == len(b.spans) || b.spans[next].Start >= stop {
				break
			}
			s := b.spans[next]
			at = max(at, s.Start)
			part := search.Span{Start: at, End: min(stop, s.End)}
			p.prefix(b, b.number+n, s.Start, b.offset+int64(s.Start))
			p.lineText(b, part.Start, part.End, []search.Span{part})
			at = part.End
		}
		start = end
	}
}

// linePerMatch writes one line for each match: the line in which the match begins.
func (p *printer) linePerMatch(b *shownBlock, several bool) {
	start, end, n := 0, b.lineEnd(0, several), 0
	for _, s := range b.spans {
		for s.Start >= end && end < len(b.text) {
			start, end, n = end, b.lineEnd(end, several), n+1
		}
		at := b.offset + int64(start)
		if !several {
			at += int64(s.Start)
		}
		p.prefix(b, b.number+n, s.Start-start, at)
		p.lineText(b, start, end, []search.Span{s})
	}
}

// lineEnd returns the end of the line that begins at start, including its line ending. A block of a
// single line is not split, even if a replacement inserted a line feed.
func (b *shownBlock) lineEnd(start int, several bool) int {
	if several {
		if i := bytes.IndexByte(b.text[start:], '\n'); i >= 0 {
			return start + i + 1
		}
	}
	return len(b.text)
}

// contentEnd returns the end of a line without the line ending.
func (p *printer) contentEnd(text []byte, start, end int) int {
	if end > start && text[end-1] == '\n' {
		end--
		if !p.style.KeepCR && end > start && text[end-1] == '\r' {
			end--
		}
	}
	return end
}

func leadingSpace(b []byte) int { return len(b) - len(bytes.TrimLeft(b, " \t\n\v\f\r")) }

// prefix writes the path, line number, column and offset, each followed by : in a matching line and
// - in context. A negative column is unknown.
func (p *printer) prefix(b *shownBlock, number, column int, offset int64) {
	sep := p.style.ContextSep
	if b.hit {
		sep = p.style.MatchSep
	}
	if p.style.Path && !p.style.Heading {
		p.name(b.path, number, column+1)
		if p.style.Nul {
			p.row = append(p.row, 0)
		} else {
			p.put(sep)
		}
	}
	if p.style.LineNumber {
		p.field(p.style.Colours.Line, int64(number), sep)
	}
	if p.style.Column && column >= 0 {
		p.field(p.style.Colours.Column, int64(column)+1, sep)
	}
	if p.style.ByteOffset {
		p.field(p.style.Colours.Column, offset, sep)
	}
}

func (p *printer) field(code string, n int64, sep string) {
	if p.style.Colour {
		p.put(code)
	}
	p.row = strconv.AppendInt(p.row, n, 10)
	if p.style.Colour {
		p.put(Reset)
	}
	p.put(sep)
}

// lineText writes text[start:end] of a block and marks the matches.
func (p *printer) lineText(b *shownBlock, start, end int, spans []search.Span) {
	if p.style.Trim {
		line := b.text[start:end]
		if p.style.CRLF { // the line keeps its own ending
			line = bytes.TrimRight(line, "\r\n")
		}
		start += leadingSpace(line)
	}
	p.rangeText(b, start, end, spans)
}

// rangeText is like lineText, but doesn't trim the text.
func (p *printer) rangeText(b *shownBlock, start, end int, spans []search.Span) {
	if p.style.MaxColumns > 0 && end-start > p.style.MaxColumns {
		p.omitted(b, start, end, spans)
		return
	}
	stop := p.contentEnd(b.text, start, end)
	painted := p.style.Colour && b.found > 0
	if p.style.CRLF && painted && stop > start && stop < end && b.text[stop-1] == '\r' {
		stop--
	}
	p.marked(b, start, stop, spans)
	if p.style.CRLF && (stop == end || painted) {
		p.row = append(p.row, '\r')
	}
	p.lineFeed()
}

// lineEnding ends a line of output that has no text from a file.
func (p *printer) lineEnding() {
	if p.style.CRLF && !p.style.NulLines {
		p.row = append(p.row, '\r')
	}
	p.lineFeed()
}

func (p *printer) lineFeed() {
	if p.style.NulLines {
		p.row = append(p.row, 0)
	} else {
		p.row = append(p.row, '\n')
	}
}

// marked writes text[start:end] and marks the matches.
func (p *printer) marked(b *shownBlock, start, end int, spans []search.Span) {
	at := start
	for i := 0; i < len(spans) && p.style.Colour; i++ {
		from, to := max(spans[i].Start, at), min(spans[i].End, end)
		// Adjacent matches are marked as one.
		for i+1 < len(spans) && spans[i+1].Start == to {
			i++
			to = min(spans[i].End, end)
		}
		if from < to {
			p.text(b.text[at:from])
			p.coloured(p.style.Colours.Match, b.text[from:to])
			at = to
		}
	}
	p.text(b.text[at:end])
}

// preview writes the start of a long line and the number of matches in the rest.
func (p *printer) preview(b *shownBlock, start, end int, spans []search.Span) {
	to := start
	for n := 0; n < p.style.MaxColumns && to < end; n++ {
		_, size := utf8.DecodeRune(b.text[to:end])
		to += size
	}
	p.marked(b, start, to, spans)
	if b.found == 0 {
		p.put(" [... omitted end of long line]")
	} else {
		more := 0
		for _, s := range spans {
			if s.Start >= to && s.Start < end {
				more++
			}
		}
		p.put(" [... " + strconv.Itoa(more) + " more match")
		if more != 1 {
			p.put("es")
		}
		p.put("]")
	}
	p.lineFeed()
}

func (p *printer) omitted(b *shownBlock, start, end int, spans []search.Span) {
	switch {
	case p.style.Preview:
		p.preview(b, start, end, spans)
	case b.found > 0 && !p.style.OnlyMatches:
		p.put("[Omitted long line with " + strconv.Itoa(b.found) + " matches]")
		p.lineEnding()
	case b.hit:
		p.put("[Omitted long matching line]")
		p.lineEnding()
	default:
		p.put("[Omitted long context line]")
		p.lineEnding()
	}
}
