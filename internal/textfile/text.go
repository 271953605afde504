package textfile

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"sort"
	"sync"
	"unicode/utf8"
)

// Text gives edits access to a text file: its decoded text, lines and offsets. It is in
// memory (InMemory) or read in pages on demand (Scan), with equal results. A document in
// memory is a text of one page.
//
// A text in pages reads its file repeatedly, so its contents are reliable only if the file does not change
// after Scan: a caller that writes the result compares hashes. Err reports a failed read, or a file that
// became shorter; the missing bytes are then NUL. A Text is not safe for concurrent use.
type Text struct {
	enc     Encoding
	raw     int64
	starts  []pageStart // of each page, and the end of the text
	endings Endings
	guessed bool
	doc     *Document // of a text in memory; nil for pages
	src     io.ReaderAt
	fold    *folding // set in a text with \n for every \r\n
	err     error
	stop    func() error // may be nil

	cached [cachedPages]cachedPage
	clock  int
	window rawWindow
	line   cursor // offset, and number of newlines before it
	rawAt  cursor // offset and raw offset
}

// pageStart is the start of a page. A page consists of whole characters and does not end
// between \r and \n.
type pageStart struct {
	raw      int64
	text     int
	newlines int
	crlf     int // number of \r\n before it
}

const (
	// pageSize is the size of a page in raw bytes: large enough for fast reading, and
	// small enough for fast counting of lines from its start.
	pageSize    = 256 << 10
	cachedPages = 4
)

type cachedPage struct {
	data []byte // nil if unused
	at   int    // number of the page
	used int
}

type cursor struct{ off, at int }

// rawWindow is the last block read by RawSpan from a file that must be decoded.
type rawWindow struct {
	off  int64
	data []byte
}

var (
	errShorter = errors.New("the file became shorter while it was read")
	errAnother = errors.New("the file was changed while it was read")
)

// InMemory returns the text of a document.
func InMemory(d *Document) *Text {
	end := pageStart{raw: int64(len(d.raw)), text: len(d.text)}
	return &Text{enc: d.enc, raw: end.raw, doc: d, starts: []pageStart{{raw: int64(len(d.enc.BOM()))}, end}}
}

// Verbatim returns a text of arbitrary bytes, which are neither decoded nor checked.
func Verbatim(b []byte) *Text {
	return InMemory(&Document{raw: b, text: b, exact: true, lines: sync.OnceValue(func() *Lines { return IndexLines(b) })})
}

// Scan reads a file of size bytes once, from the beginning, and returns its text in
// pages. It also writes each block to tee, if tee is not nil; tee may keep the block but
// must not modify it. A binary file gives a *BinaryError after its first block.
func Scan(src io.ReaderAt, size int64, tee io.Writer) (*Text, error) {
	return ScanPages(src, size, pageSize, tee)
}

// ScanPages is Scan with another page size, at least 16 bytes, for tests.
func ScanPages(src io.ReaderAt, size int64, page int, tee io.Writer) (*Text, error) {
	head := make([]byte, min(size, SniffLen))
	n, err := src.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	k := Sniff(head[:n])
	if k.Binary {
		return nil, &BinaryError{Type: BinaryType(head), Size: size}
	}
	s := &scanner{Text: &Text{enc: k.Encoding, raw: size, src: src}, page: page, tee: tee}
	if err := s.run(); err != nil {
		return nil, err
	}
	if s.invalid {
		s = &scanner{Text: &Text{enc: Windows1252, raw: size, src: src}, page: page}
		if err := s.run(); err != nil {
			return nil, err
		}
	}
	return s.Text, nil
}

// scanner makes the table of pages.
type scanner struct {
	*Text
	page    int
	tee     io.Writer
	invalid bool // the file was taken for UTF-8, but is not valid
	guess   guesser
}

func (s *scanner) run() error {
	at := int64(len(s.enc.BOM()))
	if at > 0 && s.tee != nil {
		if _, err := s.tee.Write([]byte(s.enc.BOM())); err != nil {
			return err
		}
	}
	var next pageStart
	for next.raw = at; next.raw < s.raw; {
		block := make([]byte, min(int64(s.page), s.raw-next.raw))
		if n, err := s.src.ReadAt(block, next.raw); n < len(block) {
			if err == nil || err == io.EOF {
				err = errShorter
			}
			return err
		}
		last := next.raw+int64(len(block)) == s.raw
		text, n := s.decode(block, last)
		if s.tee != nil {
			if _, err := s.tee.Write(block[:n]); err != nil {
				return err
			}
		}
		s.starts = append(s.starts, next)
		s.guess.write(block[:n], s.enc)
		if e := CountEndings(text); true {
			if s.endings.LF+s.endings.CRLF == 0 {
				s.endings.first = e.first
			}
			s.endings.LF, s.endings.CRLF = s.endings.LF+e.LF, s.endings.CRLF+e.CRLF
			next.newlines, next.crlf = next.newlines+e.LF+e.CRLF, next.crlf+e.CRLF
		}
		next.raw, next.text = next.raw+int64(n), next.text+len(text)
	}
	if len(s.starts) == 0 {
		s.starts = append(s.starts, next)
	}
	s.starts = append(s.starts, next)
	s.guessed = s.guess.odd()
	return nil
}

// decode returns the text of a block, and how many of its bytes that takes. It excludes
// an incomplete character, and a \r at the end whose \n may be in the next block.
func (s *scanner) decode(block []byte, last bool) (text []byte, n int) {
	text, n = s.Text.decode(block, last)
	if s.enc.IsUTF8() && !s.invalid {
		s.invalid = !utf8.Valid(text)
	}
	if !last && len(text) > 1 && text[len(text)-1] == '\r' {
		text, n = text[:len(text)-1], n-len(s.enc.unit())
	}
	return text, n
}

// unit returns a carriage return in the encoding.
func (e Encoding) unit() string {
	switch e {
	case UTF16LE:
		return "\r\x00"
	case UTF16BE:
		return "\x00\r"
	}
	return "\r"
}

// decode returns the text of raw bytes, without copying UTF-8.
func (t *Text) decode(block []byte, last bool) (text []byte, n int) {
	if t.enc.IsUTF8() {
		if n = len(block); !last {
			n -= partialRune(block)
		}
		return block[:n], n
	}
	size := len(block) + len(block)/8
	if t.enc != Windows1252 {
		size = len(block)/2 + len(block)/16
	}
	return t.enc.AppendDecoded(make([]byte, 0, size), block, last)
}

// Err returns the first error of a read, or the reason why the text was stopped.
func (t *Text) Err() error { return t.err }

// StopWith ends work on the text once stopped returns an error, which Err then returns.
// Pages read later consist of NUL bytes.
func (t *Text) StopWith(stopped func() error) { t.stop = stopped }

// Stopped calls the function given to StopWith, and reports whether to stop. Reading a
// page calls it too.
func (t *Text) Stopped() bool {
	if t.err == nil && t.stop != nil {
		if err := t.stop(); err != nil {
			t.fail(err)
		}
	}
	return t.err != nil
}

// Len returns the size of the text, in bytes of UTF-8 without the byte order mark, and RawLen the size
// of the file.
func (t *Text) Len() int      { return t.starts[len(t.starts)-1].text }
func (t *Text) RawLen() int64 { return t.raw }

// Encoding returns the encoding of the file.
func (t *Text) Encoding() Encoding { return t.enc }

// HalfUnit reports whether a UTF-16 file ends in half a unit. Text after it could
// not be read back, so nothing can be appended.
func (t *Text) HalfUnit() bool {
	return (t.enc == UTF16LE || t.enc == UTF16BE) && t.raw%2 == 1
}

// Guessed reports whether the detected encoding is probably wrong.
func (t *Text) Guessed() bool {
	if t.doc != nil {
		return t.doc.Guessed()
	}
	return t.guessed
}

// Endings counts the line endings.
func (t *Text) Endings() Endings {
	if t.doc != nil && t.endings == (Endings{}) {
		t.endings = CountEndings(t.doc.text)
	}
	return t.endings
}

// pageAt returns the number of the page with the byte at off; the end of the text is on
// the last page.
func (t *Text) pageAt(off int) int {
	n := len(t.starts) - 1
	return max(0, min(n, sort.Search(n, func(i int) bool { return t.starts[i].text > off }))-1)
}

// load returns the text of a page.
func (t *Text) load(i int) []byte {
	if t.doc != nil && t.fold == nil {
		return t.doc.text
	}
	t.clock++
	oldest := &t.cached[0]
	for k := range t.cached {
		c := &t.cached[k]
		if c.data != nil && c.at == i {
			c.used = t.clock
			return c.data
		}
		if c.used < oldest.used {
			oldest = c
		}
	}
	*oldest = cachedPage{t.fetch(i), i, t.clock}
	return oldest.data
}

func (t *Text) fetch(i int) []byte {
	a, b := t.starts[i], t.starts[i+1]
	if t.fold != nil {
		return t.sized(bytes.ReplaceAll(t.fold.of.load(i), []byte("\r\n"), newline), b.text-a.text)
	}
	if t.Stopped() {
		return make([]byte, b.text-a.text)
	}
	block := make([]byte, b.raw-a.raw)
	if n, err := t.src.ReadAt(block, a.raw); n < len(block) {
		if err == nil || err == io.EOF {
			err = errShorter
		}
		t.fail(err)
	}
	text, _ := t.decode(block, true)
	return t.sized(text, b.text-a.text)
}

// sized makes a page as long as it was during the scan, because offsets must be valid
// even if the file changes.
func (t *Text) sized(text []byte, want int) []byte {
	if len(text) != want {
		t.fail(errAnother)
		text = append(text[:len(text):len(text)], make([]byte, max(0, want-len(text)))...)[:want]
	}
	return text
}

func (t *Text) fail(err error) {
	if t.err == nil {
		t.err = err
	}
	if t.fold != nil {
		t.fold.of.fail(err)
	}
}

// Span returns the text from off to the end of the page, at least one byte unless off is
// the end. It must not be modified.
func (t *Text) Span(off int) []byte {
	i := t.pageAt(off)
	p := t.load(i)
	return p[min(off-t.starts[i].text, len(p)):]
}

// Spans yields the text from one offset to another.
func (t *Text) Spans(from, to int) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for from < to {
			s := t.Span(from)
			s = s[:min(len(s), to-from)]
			if len(s) == 0 || !yield(s) {
				return
			}
			from += len(s)
		}
	}
}

// Slice returns the text from one offset to another, which must not be modified. Text on
// several pages is copied.
func (t *Text) Slice(from, to int) []byte {
	if s := t.Span(from); len(s) >= to-from {
		return s[: to-from : to-from]
	}
	out := make([]byte, 0, to-from)
	for s := range t.Spans(from, to) {
		out = append(out, s...)
	}
	return out
}

// Byte returns the byte at off, which is inside the text.
func (t *Text) Byte(off int) byte {
	if s := t.Span(off); len(s) > 0 {
		return s[0]
	}
	return 0
}

// RawSpan returns bytes of the file from an offset on, at least one unless it is the end. They must not be
// modified, nor kept beyond the next call of a method. Sequential requests read each byte once.
func (t *Text) RawSpan(off int64) []byte {
	bom := t.enc.BOM()
	switch {
	case t.doc != nil:
		return t.doc.raw[off:]
	case off < int64(len(bom)):
		return []byte(bom[off:])
	case t.enc.IsUTF8():
		return t.Span(int(off) - len(bom))
	}
	if w := &t.window; off < w.off || off >= w.off+int64(len(w.data)) {
		if w.off = off; w.data == nil {
			w.data = make([]byte, pageSize)
		}
		w.data = w.data[:min(pageSize, t.raw-off)]
		if n, err := t.src.ReadAt(w.data, off); n < len(w.data) {
			if err == nil || err == io.EOF {
				err = errShorter
			}
			t.fail(err)
			w.data = w.data[:n]
			return w.data
		}
	}
	return t.window.data[off-t.window.off:]
}

// Index returns the offset of the first pat at or after from, or -1.
func (t *Text) Index(from int, pat []byte) int {
	if len(pat) > pageSize/8 && len(t.starts) > 2 {
		return t.indexLong(from, pat)
	}
	overlap := len(pat) - 1
	for size := t.Len(); from+overlap < size; {
		s := t.Span(from)
		if i := bytes.Index(s, pat); i >= 0 {
			return from + i
		}
		next := from + len(s)
		if overlap > 0 && next < size {
			// Matches that begin on this page and end on a later one.
			at := max(from, next-overlap)
			if i := bytes.Index(t.Slice(at, min(size, next+overlap)), pat); i >= 0 {
				return at + i
			}
		}
		from = next
	}
	return -1
}

// indexLong is Index for a pattern that may span many pages: it searches windows of twice
// the pattern's length.
func (t *Text) indexLong(from int, pat []byte) int {
	for size := t.Len(); from+len(pat) <= size; from += len(pat) + 1 {
		if i := bytes.Index(t.Slice(from, min(size, from+2*len(pat))), pat); i >= 0 {
			return from + i
		}
	}
	return -1
}

// Matches yields the offsets of all occurrences of pat, from left to right without
// overlap. Unlike repeated calls of Index, it looks up each page once.
func (t *Text) Matches(pat []byte) iter.Seq[int] {
	return func(yield func(int) bool) {
		for from := 0; ; {
			s := t.Span(from)
			at := 0
			for {
				i := bytes.Index(s[at:], pat)
				if i < 0 {
					break
				}
				if !yield(from + at + i) {
					return
				}
				at += i + len(pat)
			}
			// A match may begin in the rest of this page and end on the next.
			next := t.Index(from+at, pat)
			if next < 0 || !yield(next) {
				return
			}
			from = next + len(pat)
		}
	}
}

// Count returns the number of occurrences of pat from an offset on, without overlap.
func (t *Text) Count(from int, pat []byte) int {
	n := 0
	if len(pat) == 1 || len(t.starts) == 2 {
		for s := range t.Spans(from, t.Len()) {
			n += bytes.Count(s, pat)
		}
		return n
	}
	for {
		i := t.Index(from, pat)
		if i < 0 {
			return n
		}
		n, from = n+1, i+len(pat)
	}
}

// LastNewline returns the offset of the last \n before off, or -1.
func (t *Text) LastNewline(off int) int {
	for off > 0 {
		i := t.pageAt(off - 1)
		start := t.starts[i].text
		if k := bytes.LastIndexByte(t.load(i)[:off-start], '\n'); k >= 0 {
			return start + k
		}
		off = start
	}
	return -1
}

var newline = []byte{'\n'}

// EndingAt is like the function EndingAt.
func (t *Text) EndingAt(off int) Ending {
	if i := t.Index(off, newline); i >= 0 {
		return t.endingOf(i)
	}
	return t.endingOf(t.LastNewline(off))
}

// EndingBefore returns the ending of the last line that ends before off, or else of the line at off, or else
// LF.
func (t *Text) EndingBefore(off int) Ending {
	if i := t.LastNewline(off); i >= 0 {
		return t.endingOf(i)
	}
	return t.EndingAt(off)
}

func (t *Text) endingOf(i int) Ending {
	if i > 0 && t.Byte(i-1) == '\r' {
		return CRLF
	}
	return LF
}

// RawOffset returns the offset in the file at which the character at or around off
// begins.
func (t *Text) RawOffset(off int) int64 {
	if t.doc != nil {
		return int64(t.doc.RawOffset(off))
	}
	off = max(0, min(off, t.Len()))
	if t.enc.IsUTF8() {
		return int64(len(t.enc.BOM()) + off)
	}
	if off == t.Len() {
		return t.raw
	}
	i := t.pageAt(off)
	p := t.starts[i]
	c := cursor{p.text, int(p.raw)}
	if t.rawAt.off > c.off && t.rawAt.off <= off {
		c = t.rawAt // sequential requests decode each character once
	}
	text := t.load(i)
	for {
		r, w := utf8.DecodeRune(text[c.off-p.text:])
		if c.off+w > off {
			break
		}
		c.off, c.at = c.off+w, c.at+t.enc.width(r)
	}
	t.rawAt = c
	return int64(c.at)
}

// width returns the number of file bytes of a character of the decoded text. A U+FFFD for half a unit takes
// one byte; that occurs only at the end, where the width isn't needed.
func (e Encoding) width(r rune) int {
	switch {
	case e == Windows1252:
		return 1
	case r > 0xFFFF:
		return 4
	}
	return 2
}

// LineCount returns the number of lines.
func (t *Text) LineCount() int {
	if t.doc != nil {
		return t.doc.Lines().Count()
	}
	n := t.starts[len(t.starts)-1].newlines
	if !t.Terminated() {
		n++
	}
	return n
}

// Terminated reports whether no line lacks an ending. This is true for the empty text.
func (t *Text) Terminated() bool { return t.Len() == 0 || t.Byte(t.Len()-1) == '\n' }

// LineAt returns the number of the line with the byte at off. The end of a text whose
// last line has an ending counts as a further line.
func (t *Text) LineAt(off int) int {
	off = max(0, min(off, t.Len()))
	i := t.pageAt(off)
	c := cursor{t.starts[i].text, t.starts[i].newlines}
	if near := t.line.off <= off && off-t.line.off < lineBlock; near && t.line.off >= c.off {
		c = t.line // sequential requests read each byte once
	} else if t.doc != nil {
		c = cursor{off, t.doc.Lines().At(off) - 1}
	}
	c.at += bytes.Count(t.load(i)[c.off-t.starts[i].text:off-t.starts[i].text], newline)
	c.off = off
	t.line = c
	return c.at + 1
}

// Line returns the position of line n, counted from 1, and false if there is none.
func (t *Text) Line(n int) (Line, bool) {
	if n < 1 || n > t.LineCount() {
		return Line{}, false
	}
	start := 0
	switch {
	case t.doc != nil:
		start = t.doc.Lines().start(n)
	case n > 1:
		want := n - 1 // newlines before it
		i := max(0, sort.Search(len(t.starts), func(i int) bool { return t.starts[i].newlines >= want })-1)
		start = t.starts[i].text + afterNewlines(t.load(i), want-t.starts[i].newlines)
	}
	return t.lineAt(start), true
}

func (t *Text) lineAt(start int) Line {
	i := t.Index(start, newline)
	if i < 0 {
		return Line{start, t.Len(), t.Len()}
	}
	content := i
	if i > start && t.Byte(i-1) == '\r' {
		content--
	}
	return Line{start, content, i + 1}
}

// LinesFrom yields line n and all later lines.
func (t *Text) LinesFrom(n int) iter.Seq2[int, Line] {
	return func(yield func(int, Line) bool) {
		line, ok := t.Line(n)
		for size := t.Len(); ok; n++ {
			if !yield(n, line) || line.End >= size {
				return
			}
			line = t.lineAt(line.End)
		}
	}
}
