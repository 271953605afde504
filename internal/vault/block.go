package vault

import "bytes"

// blockScanner walks the lines of a note the way CommonMark does: containers
// (block quotes, list items, footnotes) are matched first, then what is left of
// the line continues or starts a leaf. Its only purpose is to tell prose from
// code, so it keeps no tree; each paragraph goes to the inline scanner when it
// closes.
type blockScanner struct {
	text []byte
	note *Note

	containers []container
	leaf       leaf
	fence      fence
	rawEnd     [][]byte // closers of a raw HTML block, lower case
	para       []Span   // the lines of the open paragraph, line endings included

	noDollars bool // no "$$" closes any more
	noPercent bool // no "%%" closes any more
}

type container struct {
	quote  bool
	indent int  // columns a list item's content is set in
	empty  bool // the marker stood alone so far; a blank line ends the item
}

type leaf uint8

const (
	noLeaf leaf = iota
	paragraph
	fenced
	indented
	rawHTML
)

type fence struct {
	char byte
	size int
}

// maxContainers bounds nesting: a line of 100,000 ">" would otherwise make
// every following line as dear. Deeper markers are plain text.
const maxContainers = 64

// cursor is a place in a line. col counts columns with tab stops of 4, and a tab
// may be used up in part.
type cursor struct {
	line     []byte
	pos, col int
}

// indent returns how many columns of blank follow and where they end.
func (c cursor) indent() (cols, pos int) {
	col := c.col
	for pos = c.pos; pos < len(c.line); pos++ {
		switch c.line[pos] {
		case ' ':
			col++
		case '\t':
			col += 4 - col%4
		default:
			return col - c.col, pos
		}
	}
	return col - c.col, pos
}

// skip moves over n columns of blank.
func (c *cursor) skip(n int) {
	for n > 0 && c.pos < len(c.line) {
		width := 1
		if c.line[c.pos] == '\t' {
			width = 4 - c.col%4
		}
		if width > n {
			c.col += n // part of a tab: it stays, its columns shrink
			return
		}
		c.col, c.pos, n = c.col+width, c.pos+1, n-width
	}
}

func (c cursor) rest() []byte { return c.line[c.pos:] }

func (b *blockScanner) run(start int) {
	for at := start; at < len(b.text); {
		end, next := lineEnd(b.text, at)
		if resume := b.addLine(at, end, next); resume > 0 {
			at = b.resume(resume)
			continue
		}
		at = next
	}
	b.closeLeaf()
}

// lineEnd finds the end of the line's text and the start of the next line.
func lineEnd(text []byte, at int) (end, next int) {
	i := bytes.IndexByte(text[at:], '\n')
	if i < 0 {
		return len(text), len(text)
	}
	end, next = at+i, at+i+1
	if end > at && text[end-1] == '\r' {
		end--
	}
	return end, next
}

// resume goes on in the middle of a line, after a comment or formula that
// spanned lines. What is left of the line is prose.
func (b *blockScanner) resume(at int) int {
	end, next := lineEnd(b.text, at)
	if len(bytes.TrimSpace(b.text[at:end])) > 0 {
		b.leaf = paragraph
		b.para = append(b.para, Span{at, next})
	}
	return next
}

// addLine handles one line. A positive result is an offset to go on from.
func (b *blockScanner) addLine(start, end, next int) int {
	c := cursor{line: b.text[start:end]}
	matched := b.matchContainers(&c)
	all := matched == len(b.containers)

	if all && b.leaf == fenced {
		b.fencedLine(c)
		return 0
	}
	if all && b.leaf == rawHTML {
		b.rawLine(c.rest())
		return 0
	}
	if !all && b.leaf != paragraph {
		b.closeTo(matched)
	}
	opened := b.openContainers(&c, &matched)
	if opened {
		all = true
	}
	cols, pos := c.indent()
	if pos == len(c.line) { // blank
		if b.leaf == paragraph {
			b.closeLeaf()
		}
		if !all {
			b.closeTo(matched)
		}
		return 0
	}
	inPara := b.leaf == paragraph
	if cols >= 4 && !inPara {
		b.closeTo(matched)
		b.leaf = indented
		return 0
	}
	if cols < 4 {
		if done, resume := b.startLeaf(c, pos, start, end, next, matched, all); done {
			return resume
		}
	}
	if !inPara {
		b.closeTo(matched) // else a lazy continuation
	}
	b.leaf = paragraph
	b.para = append(b.para, Span{start + c.pos, next})
	return 0
}

// matchContainers moves the cursor through the markers of the open containers
// and returns how many continue.
func (b *blockScanner) matchContainers(c *cursor) int {
	for i, k := range b.containers {
		cols, pos := c.indent()
		switch {
		case k.quote:
			if cols >= 4 || pos == len(c.line) || c.line[pos] != '>' {
				return i
			}
			b.eatQuote(c, pos, cols)
		case pos == len(c.line): // a blank line stays in the item
			if k.empty {
				return i
			}
			c.pos = pos
		case cols >= k.indent:
			c.skip(k.indent)
			b.containers[i].empty = false
		default:
			return i
		}
	}
	return len(b.containers)
}

// eatQuote moves over ">" at pos and the one blank after it.
func (b *blockScanner) eatQuote(c *cursor, pos, cols int) {
	c.pos, c.col = pos+1, c.col+cols+1
	if c.pos < len(c.line) && (c.line[c.pos] == ' ' || c.line[c.pos] == '\t') {
		c.skip(1)
	}
}

// openContainers starts the containers whose markers stand at the cursor.
func (b *blockScanner) openContainers(c *cursor, matched *int) bool {
	opened := false
	for *matched < maxContainers {
		cols, pos := c.indent()
		if cols >= 4 || pos == len(c.line) {
			return opened
		}
		rest := c.line[pos:]
		interrupts := b.leaf == paragraph && !opened && *matched == len(b.containers)
		switch {
		case rest[0] == '>':
			b.closeTo(*matched)
			b.eatQuote(c, pos, cols)
			b.containers = append(b.containers, container{quote: true})
		case !isThematicBreak(rest) && listMarker(rest, interrupts) > 0:
			b.closeTo(*matched)
			b.openItem(c, pos, cols, listMarker(rest, interrupts))
		case !interrupts && footnoteMarker(rest) > 0:
			b.closeTo(*matched)
			w := footnoteMarker(rest)
			c.pos, c.col = pos+w, c.col+cols+w
			b.containers = append(b.containers, container{indent: 4})
		default:
			return opened
		}
		*matched++
		opened = true
	}
	return opened
}

// openItem starts a list item whose marker of width w stands at pos.
func (b *blockScanner) openItem(c *cursor, pos, cols, w int) {
	c.pos, c.col = pos+w, c.col+cols+w
	after, end := c.indent()
	empty := end == len(c.line)
	if empty || after >= 5 {
		after = 1
	}
	c.skip(after)
	b.containers = append(b.containers, container{indent: cols + w + after, empty: empty})
}

// startLeaf tries the blocks that may begin, also inside a paragraph.
func (b *blockScanner) startLeaf(c cursor, pos, start, end, next, matched int, all bool) (bool, int) {
	rest := c.line[pos:]
	if f, ok := openFence(rest); ok {
		b.closeTo(matched)
		b.leaf, b.fence = fenced, f
		return true, 0
	}
	if level, from, to := atxHeading(rest); level > 0 {
		b.closeTo(matched)
		b.heading(level, Span{start + pos + from, start + pos + to}, Span{start + pos, end})
		return true, 0
	}
	if all && b.leaf == paragraph {
		if level := setextLevel(rest); level > 0 && b.setext(level, end) {
			return true, 0
		}
	}
	if isThematicBreak(rest) {
		b.closeTo(matched)
		return true, 0
	}
	switch rest[0] {
	case '<':
		return b.startHTML(rest, start+pos, matched)
	case '$', '%':
		if resume := b.spanningBlock(rest, start+pos, next); resume > 0 {
			b.closeTo(matched)
			return true, resume
		}
	}
	return false, 0
}

// startHTML handles what begins at a line start and hides its content: comments
// and the elements whose content is not markdown.
func (b *blockScanner) startHTML(rest []byte, at, matched int) (bool, int) {
	if bytes.HasPrefix(rest, []byte("<!--")) {
		b.closeTo(matched)
		if i := bytes.Index(b.text[at+4:], []byte("-->")); i >= 0 {
			return true, at + 4 + i + 3
		}
		return true, len(b.text) // never closed: a comment to the end
	}
	for _, name := range []string{"script", "pre", "style", "textarea"} {
		if !hasPrefixFold(rest[1:], name) {
			continue
		}
		if tail := rest[1+len(name):]; len(tail) > 0 && tail[0] != ' ' && tail[0] != '\t' && tail[0] != '>' {
			continue
		}
		b.closeTo(matched)
		b.leaf = rawHTML
		b.rawEnd = [][]byte{[]byte("</script>"), []byte("</pre>"), []byte("</style>"), []byte("</textarea>")}
		b.rawLine(rest)
		return true, 0
	}
	return false, 0
}

func hasPrefixFold(s []byte, prefix string) bool {
	return len(s) >= len(prefix) && bytes.EqualFold(s[:len(prefix)], []byte(prefix))
}

func (b *blockScanner) rawLine(line []byte) {
	lower := bytes.ToLower(line)
	for _, end := range b.rawEnd {
		if bytes.Contains(lower, end) {
			b.leaf = noLeaf
			return
		}
	}
}

// spanningBlock handles "$$" and "%%" at the start of a line whose closer stands
// on a later line: only there may a formula or comment contain blank lines. One
// that is never closed is text, so that a stray "%%" doesn't freeze the links
// of the rest of a note.
func (b *blockScanner) spanningBlock(rest []byte, at, next int) int {
	if len(rest) < 2 || rest[1] != rest[0] {
		return 0
	}
	mark, none := []byte("$$"), &b.noDollars
	if rest[0] == '%' {
		mark, none = []byte("%%"), &b.noPercent
	}
	if *none || bytes.Contains(rest[2:], mark) {
		return 0 // closes on its own line, if at all: the inline scanner's
	}
	i := bytes.Index(b.text[next:], mark)
	if i < 0 {
		*none = true
		return 0
	}
	return next + i + 2
}

func (b *blockScanner) fencedLine(c cursor) {
	cols, pos := c.indent()
	if cols >= 4 {
		return
	}
	rest := bytes.TrimRight(c.line[pos:], " \t")
	n := countByte(rest, b.fence.char)
	if n >= b.fence.size && n == len(rest) {
		b.leaf = noLeaf
	}
}

// closeTo ends the leaf and every container beyond the first n.
func (b *blockScanner) closeTo(n int) {
	b.closeLeaf()
	if n < len(b.containers) {
		b.containers = b.containers[:n]
	}
}

// closeLeaf ends the open leaf and scans a paragraph's text.
func (b *blockScanner) closeLeaf() {
	if b.leaf == paragraph {
		lines := b.para
		b.para = b.para[:0]
		b.prose(lines, true)
	}
	b.leaf = noLeaf
}

// prose hands lines of text to the inline scanner: as one text, or row by row
// where they are a table, since nothing spans the cells of a table.
func (b *blockScanner) prose(lines []Span, defs bool) {
	if len(lines) == 0 {
		return
	}
	if len(lines) > 1 && isDelimiterRow(lines[1].In(b.text)) {
		for _, l := range lines {
			b.inline([]Span{l}, false)
		}
		return
	}
	b.inline(lines, defs)
}

func (b *blockScanner) inline(lines []Span, defs bool) {
	s := inlineScanner{p: b.joined(lines), off: lines[0].Start, note: b.note}
	if defs {
		s.definitions()
	}
	s.run()
}

// joined returns the text from the first line to the last, at the same offsets,
// with the markers of containers between them blanked in a copy.
func (b *blockScanner) joined(lines []Span) []byte {
	first := lines[0].Start
	p := b.text[first:lines[len(lines)-1].End]
	copied := false
	for i := 1; i < len(lines); i++ {
		if lines[i].Start == lines[i-1].End {
			continue
		}
		if !copied {
			p, copied = bytes.Clone(p), true
		}
		gap := p[lines[i-1].End-first : lines[i].Start-first]
		for j := range gap {
			gap[j] = ' '
		}
	}
	return p
}

func (b *blockScanner) heading(level int, text, whole Span) {
	b.note.Headings = append(b.note.Headings, Heading{Level: level, Text: string(text.In(b.text)), Span: whole})
	b.inline([]Span{text}, false)
}

// setext turns the open paragraph into a heading that ends at end. Definitions
// are no heading: under them alone the line means something else.
func (b *blockScanner) setext(level, end int) bool {
	p, at := b.joined(b.para), 0
	for {
		_, next, ok := parseDefinition(p, at)
		if !ok {
			break
		}
		at = next
	}
	text := bytes.Join(bytes.Fields(p[at:]), []byte(" "))
	if len(text) == 0 {
		return false
	}
	b.note.Headings = append(b.note.Headings, Heading{Level: level, Text: string(text), Span: Span{b.para[0].Start + at, end}})
	b.closeLeaf()
	return true
}
