package vault

import (
	"bytes"
	"context"
)

// blockScanner walks the lines of a note as CommonMark does: it first matches the open
// containers (block quotes, list items, footnotes); the rest of the line then continues
// or starts a leaf. It builds no tree but records the outermost blocks and the list
// items. The text of each paragraph is passed to the inline scanner after all lines are
// read, because a reference may precede its definition.
type blockScanner struct {
	text []byte
	note *Note

	containers []container
	leaf       leaf
	fence      fence
	html       htmlKind // of an open HTML block
	list       byte     // marker character of the last outermost list: a bullet, "." or ")"
	para       []Span   // lines of the open paragraph, including line endings
	code       Span     // lines of the open code block
	jobs       []prose
	kept       []Span // backing array for the lines of jobs, which saves allocations
	refs       map[string]*Link

	noDollars bool // no closing "$$" follows
	noPercent bool // no closing "%%" follows
}

// prose is text for the inline scanner.
type prose struct {
	lines []Span
	from  int  // offset in the first line to start at
	table bool // a table row: no construct spans several lines
	aside bool // text of an HTML block or a comment
}

type container struct {
	quote  bool
	indent int  // column where the content of a list item begins
	empty  bool // only the marker was read so far; a blank line then ends the item
	item   int  // index in Note.Items, plus 1; 0 for other containers
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

// maxContainers limits nesting; deeper markers are plain text. Without a limit, a line of
// 100,000 ">" would make every line after it slow.
const maxContainers = 64

// cursor is a position in a line. col counts columns with tab stops of 4; a tab may be
// partly consumed.
type cursor struct {
	line     []byte
	pos, col int
}

// indent returns the number of columns of blanks at the cursor, and where they end.
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

// skip consumes n columns of blanks.
func (c *cursor) skip(n int) {
	for n > 0 && c.pos < len(c.line) {
		width := 1
		if c.line[c.pos] == '\t' {
			width = 4 - c.col%4
		}
		if width > n {
			c.col += n // part of a tab: keep the rest of its columns
			return
		}
		c.col, c.pos, n = c.col+width, c.pos+1, n-width
	}
}

// checkEvery is the number of bytes to scan between two checks of a context.
const checkEvery = 64 << 10

func (b *blockScanner) run(ctx context.Context, start int) {
	check := start
	for at := start; at < len(b.text); {
		if at >= check {
			if check = at + checkEvery; ctx.Err() != nil {
				return
			}
		}
		end, next := lineEnd(b.text, at)
		resume := b.addLine(at, end, next)
		b.extend(at, end)
		if resume > 0 {
			at = b.resume(resume)
			continue
		}
		at = next
	}
	b.closeLeaf()
}

// open records that an outermost block begins at the line at offset at.
func (b *blockScanner) open(kind BlockKind, at int) {
	if len(b.containers) == 0 {
		b.note.Blocks = append(b.note.Blocks, Block{Kind: kind, Span: Span{Start: at, End: at}})
	}
}

// extend adds a line to the current block and list item.
func (b *blockScanner) extend(start, end int) {
	if len(b.note.Blocks) == 0 {
		return
	}
	for start < end && (b.text[start] == ' ' || b.text[start] == '\t') {
		start++
	}
	if start == end {
		return
	}
	last := &b.note.Blocks[len(b.note.Blocks)-1]
	last.Span.End = max(last.Span.End, end)
	for i := len(b.containers) - 1; i >= 0; i-- {
		if at := b.containers[i].item; at > 0 {
			if it := &b.note.Items[at-1]; !it.closed {
				it.Span.End = end
			}
			return
		}
	}
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

// resume continues in the middle of a line, after a comment or formula that spanned
// several lines. The rest of the line is prose.
func (b *blockScanner) resume(at int) int {
	end, next := lineEnd(b.text, at)
	b.extend(at-2, end) // including the closing marks
	if len(bytes.TrimSpace(b.text[at:end])) > 0 {
		b.leaf = paragraph
		b.para = append(b.para, Span{Start: at, End: next})
	}
	return next
}

// addLine processes one line. A positive result is the offset at which to continue.
func (b *blockScanner) addLine(start, end, next int) int {
	c := cursor{line: b.text[start:end]}
	matched := b.matchContainers(&c)
	all := matched == len(b.containers)

	if all && b.leaf == fenced {
		b.fencedLine(c, start, next)
		return 0
	}
	if _, pos := c.indent(); all && b.leaf == rawHTML && (pos < len(c.line) || b.html < htmlBlock) {
		b.htmlLine(start+c.pos, end, next)
		return 0
	}
	if !all && b.leaf != paragraph {
		b.closeTo(matched)
	}
	opened := b.openContainers(&c, start, &matched)
	if opened {
		all = true
	}
	cols, pos := c.indent()
	if pos == len(c.line) { // blank
		if b.leaf == paragraph || b.leaf == rawHTML {
			b.closeLeaf()
		}
		if !all {
			b.closeTo(matched)
		}
		return 0
	}
	inPara := b.leaf == paragraph
	if cols >= 4 && !inPara {
		if !all || opened || b.leaf != indented {
			b.closeTo(matched)
			b.open(BlockCode, start)
			b.leaf, b.code = indented, Span{Start: start + c.pos, End: next}
		}
		b.code.End = next
		return 0
	}
	if cols < 4 {
		if done, resume := b.startLeaf(c, pos, start, end, next, matched, all); done {
			return resume
		}
	}
	if !inPara {
		b.closeTo(matched) // otherwise this is a lazy continuation line
		b.open(BlockParagraph, start)
	}
	b.leaf = paragraph
	b.para = append(b.para, Span{Start: start + c.pos, End: next})
	return 0
}

// matchContainers moves the cursor past the markers of the open containers and returns
// how many of them continue.
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

// eatQuote moves the cursor past the ">" at pos and one blank after it.
func (b *blockScanner) eatQuote(c *cursor, pos, cols int) {
	c.pos, c.col = pos+1, c.col+cols+1
	if c.pos < len(c.line) && (c.line[c.pos] == ' ' || c.line[c.pos] == '\t') {
		c.skip(1)
	}
}

// openContainers opens the containers whose markers are at the cursor.
func (b *blockScanner) openContainers(c *cursor, start int, matched *int) bool {
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
			b.open(BlockQuote, start)
			b.eatQuote(c, pos, cols)
			b.containers = append(b.containers, container{quote: true})
		case !isThematicBreak(rest) && listMarker(rest, interrupts) > 0:
			b.closeTo(*matched)
			b.openItem(c, start, pos, cols, listMarker(rest, interrupts))
		case !interrupts && footnoteMarker(rest) > 0:
			b.closeTo(*matched)
			b.open(BlockFootnote, start)
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

// openItem opens a list item. Its marker is at pos and w bytes wide.
func (b *blockScanner) openItem(c *cursor, start, pos, cols, w int) {
	kind := c.line[pos+w-1] // the bullet, or the character after the number
	if n := len(b.note.Blocks); len(b.containers) > 0 || n == 0 || b.note.Blocks[n-1].Kind != BlockList || b.list != kind {
		b.open(BlockList, start)
	}
	level := 0
	for i := range b.containers {
		if at := b.containers[i].item; at > 0 {
			b.note.Items[at-1].closed = true
			level++
		}
	}
	if len(b.containers) == 0 {
		b.list = kind
	}
	b.note.Items = append(b.note.Items, Item{Level: level, Span: Span{Start: start + pos, End: start + len(c.line)}})
	c.pos, c.col = pos+w, c.col+cols+w
	after, end := c.indent()
	empty := end == len(c.line)
	if empty || after >= 5 {
		after = 1
	}
	c.skip(after)
	b.containers = append(b.containers, container{indent: cols + w + after, empty: empty, item: len(b.note.Items)})
}

// startLeaf tries to start a leaf block of a kind that can interrupt a paragraph.
func (b *blockScanner) startLeaf(c cursor, pos, start, end, next, matched int, all bool) (bool, int) {
	rest := c.line[pos:]
	if f, ok := openFence(rest); ok {
		b.closeTo(matched)
		b.open(BlockCode, start)
		b.leaf, b.fence, b.code = fenced, f, Span{Start: next, End: next}
		return true, 0
	}
	if level, from, to := atxHeading(rest); level > 0 {
		b.closeTo(matched)
		b.open(BlockHeading, start)
		b.heading(level, Span{Start: start + pos + from, End: start + pos + to}, Span{Start: start + pos, End: end})
		return true, 0
	}
	if all && b.leaf == paragraph {
		if level := setextLevel(rest); level > 0 && b.setext(level, end) {
			return true, 0
		}
	}
	if isThematicBreak(rest) {
		b.closeTo(matched)
		b.open(BlockBreak, start)
		return true, 0
	}
	switch rest[0] {
	case '<':
		kind := startsHTML(rest, b.leaf != paragraph)
		if kind == noHTML {
			return false, 0
		}
		b.closeTo(matched)
		b.open(BlockHTML, start)
		b.leaf, b.html = rawHTML, kind
		b.htmlLine(start+pos, end, next)
		return true, 0
	case '$', '%':
		if resume := b.spanningBlock(rest, start+pos, next); resume > 0 {
			b.closeTo(matched)
			if rest[0] == '%' {
				b.open(BlockComment, start)
				b.commentText(start+pos+2, resume-2)
			} else {
				b.open(BlockMath, start)
			}
			return true, resume
		}
	}
	return false, 0
}

func hasPrefixFold(s []byte, prefix string) bool {
	return len(s) >= len(prefix) && bytes.EqualFold(s[:len(prefix)], []byte(prefix))
}

// commentText keeps the lines of a comment for the inline scanner: Obsidian does not show
// the comment, but indexes its links and tags.
func (b *blockScanner) commentText(at, to int) {
	p := prose{table: true, aside: true}
	for at < to {
		_, next := lineEnd(b.text[:to], at)
		p.lines = append(p.lines, Span{Start: at, End: next})
		at = next
	}
	b.jobs = append(b.jobs, p)
}

// spanningBlock handles a "$$" or "%%" at the start of a line whose closer is on a later
// line. Only such formulas and comments may contain blank lines. Without a closer the
// mark is text, so that a stray "%%" doesn't hide the links in the rest of a note.
func (b *blockScanner) spanningBlock(rest []byte, at, next int) int {
	if len(rest) < 2 || rest[1] != rest[0] {
		return 0
	}
	mark, none := []byte("$$"), &b.noDollars
	if rest[0] == '%' {
		mark, none = []byte("%%"), &b.noPercent
	}
	if *none || bytes.Contains(rest[2:], mark) {
		return 0 // closed on the same line or not at all: the inline scanner handles it
	}
	i := bytes.Index(b.text[next:], mark)
	if i < 0 {
		*none = true
		return 0
	}
	return next + i + 2
}

func (b *blockScanner) fencedLine(c cursor, start, next int) {
	cols, pos := c.indent()
	rest := bytes.TrimRight(c.line[pos:], " \t")
	n := countByte(rest, b.fence.char)
	if cols < 4 && n >= b.fence.size && n == len(rest) {
		b.closeLeaf()
		return
	}
	if b.code.Len() == 0 {
		b.code.Start = start + c.pos
	}
	b.code.End = next
}

// closeTo closes the leaf and all containers except the first n.
func (b *blockScanner) closeTo(n int) {
	b.closeLeaf()
	if n < len(b.containers) {
		b.containers = b.containers[:n]
	}
}

// closeLeaf closes the open leaf. The text of a paragraph is kept for the inline scanner.
func (b *blockScanner) closeLeaf() {
	switch b.leaf {
	case paragraph:
		b.closeParagraph()
	case fenced, indented:
		if b.code.Len() > 0 {
			b.note.Code = append(b.note.Code, b.code)
		}
	case rawHTML:
		if len(b.para) > 0 {
			b.later(prose{lines: b.para, aside: true})
		}
	}
	b.para = b.para[:0]
	b.leaf = noLeaf
}

// closeParagraph records the link definitions at the start of a paragraph. The rest is
// prose or the rows of a table.
func (b *blockScanner) closeParagraph() {
	if len(b.para) > 1 && isDelimiterRow(b.para[1].In(b.text)) {
		if last := &b.note.Blocks[len(b.note.Blocks)-1]; len(b.containers) == 0 && last.Kind == BlockParagraph {
			last.Kind = BlockTable
		}
		b.later(prose{lines: b.para, table: true})
		return
	}
	b.later(prose{lines: b.para, from: b.definitions()})
}

// later keeps text to be scanned after all definitions are known.
func (b *blockScanner) later(p prose) {
	at := len(b.kept)
	b.kept = append(b.kept, p.lines...)
	p.lines = b.kept[at:len(b.kept):len(b.kept)]
	b.jobs = append(b.jobs, p)
}

// definitions records the link definitions at the start of the open paragraph and returns
// where they end.
func (b *blockScanner) definitions() int {
	if c := bytes.TrimLeft(b.para[0].In(b.text), " \t"); len(c) == 0 || c[0] != '[' {
		return 0
	}
	p, at := b.joined(b.para), 0
	for {
		l, end, ok := parseDefinition(p, at)
		if !ok {
			return at
		}
		label := foldLabel(l.AliasSpan.In(p))
		l.move(b.para[0].Start)
		b.note.Links = append(b.note.Links, l)
		if b.refs == nil {
			b.refs = map[string]*Link{}
		}
		if b.refs[label] == nil {
			b.refs[label] = &l
		}
		at = end
	}
}

// inlines scans the texts that were kept.
func (b *blockScanner) inlines(ctx context.Context) {
	check := 0
	for _, p := range b.jobs {
		if at := p.lines[0].Start; at >= check {
			if check = at + checkEvery; ctx.Err() != nil {
				return
			}
		}
		if !p.table {
			b.inline(ctx, p.lines, p)
			continue
		}
		for i := range p.lines {
			b.inline(ctx, p.lines[i:i+1], p)
		}
	}
	b.jobs = nil
}

func (b *blockScanner) inline(ctx context.Context, lines []Span, p prose) {
	s := inlineScanner{p: b.joined(lines), off: lines[0].Start, note: b.note, refs: b.refs, i: p.from, aside: p.aside}
	s.run(ctx)
}

// joined returns the text of consecutive lines at its original offsets. Container markers
// between the lines are blanked in a copy.
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
	b.note.Headings = append(b.note.Headings, Heading{Level: level, Text: string(text.In(b.text)), Span: whole, TextSpan: text, Nested: len(b.containers) > 0})
	if text.Len() > 0 {
		b.later(prose{lines: []Span{text}})
	}
}

// setext turns the open paragraph into a heading that ends at end. It fails if the
// paragraph consists only of link definitions; then the underline is something else.
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
	from, to := trim(p, at, len(p))
	off := b.para[0].Start
	b.note.Headings = append(b.note.Headings, Heading{Level: level, Text: string(text), Span: Span{Start: off + at, End: end},
		TextSpan: Span{Start: off + from, End: off + to}, Nested: len(b.containers) > 0, Setext: true})
	b.closeLeaf()
	if len(b.containers) == 0 {
		b.note.Blocks[len(b.note.Blocks)-1].Kind = BlockHeading
	}
	return true
}
