package textedit

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"
	"unsafe"

	"quarry/change"
	"quarry/internal/textfile"
)

// DiffOptions shapes a unified diff. Nil and the zero value give git's format with three lines
// of context, lines cut at 2,000 bytes and at most 2,000 lines.
type DiffOptions struct {
	// Context is the number of unchanged lines around a change; 0 means 3, a negative value none.
	Context int
	// MaxLine is the length in bytes at which lines are cut; 0 means 2,000, a negative value no limit.
	MaxLine int
	// MaxLines is the number of lines after which the diff ends, with a note that counts the
	// omitted changed lines; 0 means 2,000, a negative value no limit.
	MaxLines int
}

func (o *DiffOptions) filled() DiffOptions {
	var f DiffOptions
	if o != nil {
		f = *o
	}
	def := func(v *int, d, none int) {
		if *v == 0 {
			*v = d
		} else if *v < 0 {
			*v = none
		}
	}
	def(&f.Context, 3, 0)
	def(&f.MaxLine, 2000, int(^uint(0)>>1))
	def(&f.MaxLines, 2000, int(^uint(0)>>1))
	return f
}

// Diff returns the hunks of the change as a unified diff, or "" if nothing changes. For UTF-8
// the diff consists of the file's own bytes, so git apply and patch accept it unless lines are
// cut. Other encodings are shown decoded. Diff takes one pass to number the lines, plus work
// for the changed regions. It only counts omitted lines.
func (c *Change) Diff(o *DiffOptions) string {
	hunks, _ := c.DiffCut(o)
	return hunks
}

// DiffCut is like Diff and also counts the omitted parts.
func (c *Change) DiffCut(o *DiffOptions) (string, change.Cut) {
	w := newDiffWriter(o, c.doc, c.doc.Encoding() == textfile.UTF8BOM)
	var r *region
	for p := range c.pieces() {
		// Adding text after a last line without a line ending changes that line too.
		first, last := c.doc.LineAt(p.start), c.doc.LineAt(p.end)
		if r != nil && (first > r.last+1 || first > r.last && r.size > maxJoined) {
			r.end()
			r = nil
		}
		if r == nil {
			r = w.region(first, c.doc.LastNewline(p.start)+1)
		}
		r.last = max(r.last, last)
		r.piece(p)
	}
	if r != nil {
		r.end()
	}
	return w.finish()
}

// Once a region of changed lines has more than maxJoined bytes of new text, it ends at the
// next line break. A diff shows all old lines of a region before its new ones, so a region
// must be small enough for a reader to see both.
const maxJoined = 8 << 10

// diffWriter collects changed lines in order and prints them as hunks.
type diffWriter struct {
	o       DiffOptions
	text    *textfile.Text // the old text
	bom     bool           // the first line begins with a byte order mark
	shift   int            // new line number minus the old one, after the changes so far
	out     []diffChange
	planned int  // lines of the diff that are planned to be shown
	closed  bool // further changes are not part of a shown hunk
	buffer  strings.Builder
	left    int // number of lines that may still be printed
	cut     change.Cut
	end     int // end of the last change that is not part of a shown hunk

	skip map[int]int // bytes to skip at the start of overlong old lines, by line
}

// diffChange replaces count old lines, from line a (1-based) on, by lines.
type diffChange struct {
	a, count int
	b        int // first line in the new text, 1-based
	lines    []diffLine
	unsplit  int  // number of further new lines, which are not shown
	tail     bool // combines several changes that are not shown
	same     int  // unchanged lines between those changes
}

// diffLine is a line, or the part of an overlong line that may be shown.
type diffLine struct {
	text    []byte // with its line feed; if the line is cut, only its beginning
	size    int    // size of the whole line, without the line feed
	skipped int    // bytes of the line before text
}

// added returns the number of new lines.
func (c *diffChange) added() int { return len(c.lines) + c.unsplit }

func newDiffWriter(o *DiffOptions, text *textfile.Text, bom bool) *diffWriter {
	w := &diffWriter{o: o.filled(), text: text, bom: bom}
	w.left = w.o.MaxLines
	return w
}

// full reports whether no more lines may be planned: further ones are only counted.
func (w *diffWriter) full() bool { return w.planned >= w.o.MaxLines }

// push adds the next change. Changes that won't be shown are joined if they belong to the last
// shown hunk, because the hunk's header must count their lines.
func (w *diffWriter) push(c diffChange) {
	c.b = c.a + w.shift
	w.shift += c.added() - c.count
	if !w.full() {
		w.out = append(w.out, c)
		w.planned += c.count + len(c.lines)
		return
	}
	last := &w.out[len(w.out)-1]
	gap := c.a - (last.a + last.count)
	switch {
	case w.closed || gap > 2*w.o.Context:
		if !w.closed || c.a-w.end > 2*w.o.Context {
			w.cut.Hunks++
		}
		w.closed, w.end = true, c.a+c.count
		w.hide(&c)
	case last.tail:
		last.count, last.unsplit, last.same = last.count+gap+c.count, last.unsplit+gap+c.added(), last.same+gap
	default:
		c.unsplit, c.lines, c.tail = c.added(), nil, true
		w.out = append(w.out, c)
	}
}

// hide counts a change that is not shown.
func (w *diffWriter) hide(c *diffChange) {
	w.cut.Removed += c.count - c.same
	w.cut.Added += c.added() - c.same
}

// region is a run of changed lines that is being collected. Up to maxRegion bytes it is kept
// whole, to be compared line by line. For a larger region (an outline), only the beginnings of
// the lines to show are kept.
type region struct {
	w           *diffWriter
	first, last int // lines of the old text
	start, at   int // offsets in the old text of its start and of the end of the collected part
	size        int // bytes of new text so far
	after       []byte
	outlined    bool
	change      diffChange // the change, if the region is an outline
	line        diffLine   // the last line of the outline so far
	limit       int        // maximum number of lines to keep
}

// maxRegion is the largest region, old and new text together, that is compared line by line.
// Replacing every letter of a line of 100 KB can make it 200 MB long, while the diff shows 500 bytes.
const maxRegion = 4 << 20

func (w *diffWriter) region(first, start int) *region {
	r := &region{w: w, first: first, last: first, start: start, at: start}
	if w.full() {
		r.outlined = true
	}
	if start == 0 && w.bom {
		r.put([]byte(textfile.UTF8BOM.BOM()))
	}
	return r
}

// piece adds the old text before a piece, and the piece's new text.
func (r *region) piece(p piece) {
	r.old(p.start)
	r.put(unsafe.Slice(unsafe.StringData(p.text), len(p.text)))
	r.at = p.end
}

func (r *region) old(to int) {
	for s := range r.w.text.Spans(r.at, to) {
		r.put(s)
	}
}

func (r *region) put(b []byte) {
	r.size += len(b)
	if r.outlined {
		r.outline(b)
		return
	}
	if r.after = append(r.after, b...); len(r.after)+r.at-r.start > maxRegion {
		r.outlineNow()
	}
}

func (r *region) outlineNow() {
	after := r.after
	r.after, r.outlined, r.limit = nil, true, r.w.o.MaxLines
	r.outline(after)
}

// outline adds new text, of which it keeps only the beginnings of lines.
func (r *region) outline(b []byte) {
	keep := min(r.w.o.MaxLine, 1<<40) + utf8.UTFMax
	for len(b) > 0 {
		if len(r.change.lines) >= r.limit {
			r.change.unsplit += bytes.Count(b, []byte{'\n'})
			if r.line.size = 0; b[len(b)-1] != '\n' {
				r.line.size = 1 // a last line without a line feed
			}
			return
		}
		part, rest, ended := bytes.Cut(b, []byte{'\n'})
		r.line.size += len(part)
		r.line.text = append(r.line.text, part[:min(len(part), max(0, keep-len(r.line.text)))]...)
		if ended {
			r.line.text = append(r.line.text, '\n')
			r.change.lines = append(r.change.lines, r.line)
			r.line = diffLine{}
		}
		b = rest
	}
}

// end finishes the region: it compares the region's texts, or adds the change of its outline.
func (r *region) end() {
	w := r.w
	end := w.text.Len()
	if i := w.text.Index(r.at, []byte{'\n'}); i >= 0 {
		end = i + 1
	}
	if !r.outlined && end-r.at+len(r.after)+end-r.start > maxRegion {
		r.outlineNow()
	}
	r.old(end)
	if !r.outlined {
		before := w.text.Slice(r.start, end)
		if r.start == 0 && w.bom {
			before = append([]byte(textfile.UTF8BOM.BOM()), before...)
		}
		w.compare(r.first, before, r.after)
		return
	}
	switch {
	case r.line.size > 0 && len(r.change.lines) >= r.limit:
		r.change.unsplit++
	case r.line.size > 0:
		r.change.lines = append(r.change.lines, r.line)
	}
	r.change.a, r.change.count = r.first, max(0, min(r.last, w.lineCount())-r.first+1)
	w.push(r.change)
}

// lineCount returns the number of old lines. A text that is only a byte order mark has one line.
func (w *diffWriter) lineCount() int {
	if w.bom && w.text.Len() == 0 {
		return 1
	}
	return w.text.LineCount()
}

// maxCompared is the largest number of lines, old and new, that are compared one by one. More lines
// become one change. Comparing 4 million lines took 500 MB, for a diff that shows 2,000 lines.
const maxCompared = 1 << 18

// compare adds the changes between two regions of whole lines, which begin at line first.
func (w *diffWriter) compare(first int, before, after []byte) {
	if na, nb := countLines(before), countLines(after); na+nb > maxCompared {
		shown := splitLines(after, w.o.MaxLines)
		w.push(diffChange{a: first, count: na, lines: wholeLines(shown), unsplit: nb - len(shown)})
		return
	}
	a, b := splitLines(before, maxCompared), splitLines(after, maxCompared)
	ids := make(map[string]int, len(a))
	for _, c := range compareLines(NumberLines(a, ids), NumberLines(b, ids)) {
		lines := wholeLines(b[c.b0:c.b1])
		if c.a1-c.a0 == len(lines) {
			for i := range lines {
				w.skipEqual(first+c.a0+i, a[c.a0+i], &lines[i])
			}
		}
		w.push(diffChange{a: first + c.a0, count: c.a1 - c.a0, lines: lines})
	}
}

// NumberLines gives equal lines equal numbers. Lines in ids get the number there; other lines
// are added to ids.
func NumberLines(lines [][]byte, ids map[string]int) []int {
	out := make([]int, len(lines))
	for i, l := range lines {
		id, ok := ids[string(l)]
		if !ok {
			id = len(ids)
			ids[string(l)] = id
		}
		out[i] = id
	}
	return out
}

// skipEqual skips the common beginning of an overlong old line and its new line, if the
// difference would be cut off otherwise.
func (w *diffWriter) skipEqual(n int, old []byte, line *diffLine) {
	limit := min(w.o.MaxLine, 1<<40)
	same := 0
	for same < min(len(old), len(line.text)) && old[same] == line.text[same] {
		same++
	}
	if same <= limit*3/4 || max(len(old), line.size) <= limit || n == 1 && w.bom {
		return
	}
	from := same - limit/4
	for from > 0 && !utf8.RuneStart(old[from]) {
		from--
	}
	if w.skip == nil {
		w.skip = map[int]int{}
	}
	w.skip[n], line.skipped, line.text = from, from, line.text[from:]
}

func wholeLines(lines [][]byte) []diffLine {
	out := make([]diffLine, len(lines))
	for i, l := range lines {
		out[i] = wholeLine(l)
	}
	return out
}

func wholeLine(l []byte) diffLine {
	return diffLine{text: l, size: len(bytes.TrimSuffix(l, []byte{'\n'}))}
}

func countLines(text []byte) int {
	n := bytes.Count(text, []byte{'\n'})
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

// splitLines returns at most the first limit lines of text.
func splitLines(text []byte, limit int) [][]byte {
	out := make([][]byte, 0, min(limit, countLines(text)))
	for len(text) > 0 && len(out) < limit {
		n := bytes.IndexByte(text, '\n') + 1
		n = cmp.Or(n, len(text))
		out = append(out, text[:n])
		text = text[n:]
	}
	return out
}

func (w *diffWriter) finish() (string, change.Cut) {
	for i := 0; i < len(w.out); {
		j := i + 1
		for j < len(w.out) && w.out[j].a-(w.out[j-1].a+w.out[j-1].count) <= 2*w.o.Context {
			j++
		}
		w.hunk(w.out[i:j])
		i = j
	}
	if n := w.cut.Added + w.cut.Removed; n > 0 {
		fmt.Fprintf(&w.buffer, "[diff cut: %d more changed lines]\n", n)
	}
	return w.buffer.String(), w.cut
}

func (w *diffWriter) hunk(changes []diffChange) {
	first, last := changes[0], changes[len(changes)-1]
	if w.left <= 0 {
		w.cut.Hunks++
		for i := range changes {
			w.hide(&changes[i])
		}
		return
	}
	start := max(1, first.a-w.o.Context)
	end := min(w.lineCount()+1, last.a+last.count+w.o.Context) // exclusive
	oldCount := end - start
	newCount := oldCount
	for _, c := range changes {
		newCount += c.added() - c.count
	}
	newStart := first.b - (first.a - start)
	fmt.Fprintf(&w.buffer, "@@ -%s +%s @@\n", diffRange(start, oldCount), diffRange(newStart, newCount))
	at := start
	for _, c := range changes {
		w.old(' ', at, c.a)
		// If a change can't be shown whole, it must not look like a deletion. So its new lines
		// get half of the remaining lines.
		shown := c.count
		if room := w.left; c.count+c.added() > room {
			shown = min(c.count, max(room-c.added(), (room+1)/2))
			w.cut.Removed += c.count - shown
		}
		w.old('-', c.a, c.a+shown)
		for _, l := range c.lines {
			w.line('+', l)
		}
		w.cut.Added += c.unsplit - c.same
		w.cut.Removed -= c.same
		at = c.a + c.count
	}
	w.old(' ', at, end)
}

// diffRange formats a range as diff does: an empty range is given by the line before it.
func diffRange(start, count int) string {
	switch count {
	case 0:
		return fmt.Sprintf("%d,0", start-1)
	case 1:
		return fmt.Sprint(start)
	}
	return fmt.Sprintf("%d,%d", start, count)
}

// old prints lines [from, to) of the old text, each after mark.
func (w *diffWriter) old(mark byte, from, to int) {
	for n, l := range w.oldLines(from, to) {
		if w.left <= 0 {
			if mark != ' ' {
				w.cut.Removed += to - n
			}
			return
		}
		w.line(mark, l)
	}
}

// oldLines yields lines [from, to) of the old text. Long lines are cut.
func (w *diffWriter) oldLines(from, to int) iter.Seq2[int, diffLine] {
	return func(yield func(int, diffLine) bool) {
		mark := ""
		if w.bom {
			mark = textfile.UTF8BOM.BOM()
		}
		if from < to && w.text.Len() == 0 && w.bom {
			yield(1, wholeLine([]byte(mark)))
			return
		}
		for n, l := range w.text.LinesFrom(from) {
			if n >= to {
				return
			}
			line := diffLine{size: l.End - l.Start}
			ended := line.size > 0 && w.text.Byte(l.End-1) == '\n'
			if ended {
				line.size--
			}
			line.skipped = w.skip[n]
			start := l.Start + line.skipped
			end := min(l.End, start+min(w.o.MaxLine, 1<<40)+utf8.UTFMax)
			line.text = w.text.Slice(start, end)
			if ended && end < l.End {
				line.text = append(slices.Clip(line.text), '\n') // the line feed was cut off above
			}
			if n == 1 && mark != "" {
				line.text, line.size = append([]byte(mark), line.text...), line.size+len(mark)
			}
			if !yield(n, line) {
				return
			}
		}
	}
}

func (w *diffWriter) line(mark byte, l diffLine) {
	if w.left <= 0 {
		w.cut.Added++ // omitted old lines are counted by old
		return
	}
	w.left--
	w.buffer.WriteByte(mark)
	text, ended := bytes.CutSuffix(l.text, []byte{'\n'})
	if l.skipped > 0 {
		w.buffer.WriteString("…")
	}
	if l.size-l.skipped > w.o.MaxLine {
		w.buffer.WriteString(strings.ToValidUTF8(string(text[:w.o.MaxLine]), "") + "…")
	} else {
		w.buffer.Write(text)
	}
	if l.skipped > 0 || l.size > w.o.MaxLine {
		fmt.Fprintf(&w.buffer, " [line cut: %d bytes]", l.size)
	}
	w.buffer.WriteByte('\n')
	if !ended {
		w.buffer.WriteString("\\ No newline at end of file\n")
	}
}
