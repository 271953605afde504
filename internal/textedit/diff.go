package textedit

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"quarry/internal/textfile"
)

// DiffOptions shapes a unified diff. The zero value and nil give git's form with
// three lines of context, lines cut at 2,000 bytes and 2,000 lines in all.
type DiffOptions struct {
	// Context is the number of unchanged lines around a change; 0 means 3,
	// less than 0 means none.
	Context int
	// MaxLine cuts longer lines, in bytes; 0 means 2,000, less than 0 never.
	MaxLine int
	// MaxLines ends the diff after this many lines, with a note that says
	// how many changed lines are not shown; 0 means 2,000, less than 0 never.
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

// Diff returns the hunks of the change as a unified diff, empty if nothing
// changes. For
// UTF-8 it is made of the file's own bytes, so that git apply and patch
// accept it where nothing was cut; other encodings are shown decoded. It costs
// one pass to number the lines and otherwise what the changed regions need.
func (c *Change) Diff(o *DiffOptions) string {
	text, shift := c.doc.Text(), 0
	lines := c.doc.Lines()
	if c.doc.Encoding() == textfile.UTF8BOM {
		// The mark is part of the first line as git sees it.
		text, shift = c.doc.Raw(), len(c.doc.Encoding().BOM())
		lines = textfile.IndexLines(text)
	}
	w := newDiffWriter(o, lines, text)
	for i := 0; i < len(c.planned); {
		first, last := w.linesOf(c.planned[i], shift)
		j := i + 1
		for ; j < len(c.planned); j++ {
			f, l := w.linesOf(c.planned[j], shift)
			if f > last+1 {
				break
			}
			last = max(last, l)
		}
		w.region(first, last, c.planned[i:j], shift)
		i = j
	}
	return w.finish()
}

// DiffTexts returns the unified diff from one text to another, empty if they
// are equal.
func DiffTexts(before, after []byte, o *DiffOptions) string {
	w := newDiffWriter(o, textfile.IndexLines(before), before)
	p := commonPrefix(before, after)
	p = bytes.LastIndexByte(before[:p], '\n') + 1
	a, b := before[p:], after[p:]
	s := commonSuffix(a, b)
	// The suffix begins behind a newline that both have.
	if i := bytes.IndexByte(a[len(a)-s:], '\n'); s < len(a) || s < len(b) {
		if i < 0 {
			s = 0
		} else {
			s -= i + 1
		}
	}
	w.compare(w.lines.At(p), a[:len(a)-s], b[:len(b)-s])
	return w.finish()
}

func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	const step = 4096
	i := 0
	for i+step <= n && bytes.Equal(a[i:i+step], b[i:i+step]) {
		i += step
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

func commonSuffix(a, b []byte) int {
	n := min(len(a), len(b))
	const step = 4096
	i := 0
	for i+step <= n && bytes.Equal(a[len(a)-i-step:len(a)-i], b[len(b)-i-step:len(b)-i]) {
		i += step
	}
	for i < n && a[len(a)-1-i] == b[len(b)-1-i] {
		i++
	}
	return i
}

// diffWriter collects changed lines in order and prints them as hunks.
type diffWriter struct {
	o      DiffOptions
	lines  *textfile.Lines
	text   []byte
	shift  int // new line number minus old, behind the changes so far
	out    []diffChange
	buffer strings.Builder
	left   int // lines that may still be printed
	hidden int // changed lines that were not
}

// diffChange replaces count old lines from line a (1-based) by lines.
type diffChange struct {
	a, count int
	b        int // line of the new text, 1-based
	lines    []diffLine
	unsplit  int // new lines behind those, which nobody will be shown
}

// diffLine is a new line, or the beginning of one that is too long to be shown.
type diffLine struct {
	text []byte // with its line feed, unless it is cut
	size int    // of all of it, without the line feed
}

// added is the number of new lines.
func (c *diffChange) added() int { return len(c.lines) + c.unsplit }

// maxCompared is the most lines, old and new, that are compared one by one;
// more become one change. Comparing 4 million took 500 MB, for a diff of which
// 2,000 are shown.
const maxCompared = 1 << 18

func newDiffWriter(o *DiffOptions, lines *textfile.Lines, text []byte) *diffWriter {
	w := &diffWriter{o: o.filled(), lines: lines, text: text}
	w.left = w.o.MaxLines
	return w
}

// linesOf returns the lines a piece touches. Text added behind the last line
// of a file that does not end it touches that line.
func (w *diffWriter) linesOf(p piece, shift int) (first, last int) {
	return w.lines.At(p.start + shift), w.lines.At(p.end + shift)
}

// region compares lines first to last with what the pieces make of them.
func (w *diffWriter) region(first, last int, pieces []piece, shift int) {
	start, end := len(w.text), len(w.text)
	if l, ok := w.lines.Line(first); ok {
		start = l.Start
	}
	if l, ok := w.lines.Line(last); ok {
		end = l.End
	}
	grown := 0
	for _, p := range pieces {
		grown += len(p.text)
	}
	if end-start+grown > maxRegion {
		w.outline(first, start, end, pieces, shift)
		return
	}
	var after []byte
	at := start
	for _, p := range pieces {
		after = append(after, w.text[at:p.start+shift]...)
		after = append(after, p.text...)
		at = p.end + shift
	}
	after = append(after, w.text[at:end]...)
	w.compare(first, w.text[start:end], after)
}

// maxRegion is the most text, old and new, of a region that is compared line by
// line. A replacement of every letter of a line of 100 KB can make it 200 MB long,
// of which the diff shows 500 bytes.
const maxRegion = 4 << 20

// outline is region for one that is too large to be put together: all its lines
// are changed, and only the beginnings of those that will be shown are kept.
func (w *diffWriter) outline(first, start, end int, pieces []piece, shift int) {
	c := diffChange{a: first, count: countLines(w.text[start:end]), b: first + w.shift}
	var line diffLine
	keep := min(w.o.MaxLine, 1<<40) + utf8.UTFMax
	add := func(b string) {
		for len(b) > 0 {
			if len(c.lines) >= w.o.MaxLines {
				c.unsplit += strings.Count(b, "\n")
				if line.size = 0; b[len(b)-1] != '\n' {
					line.size = 1 // a last line without a line feed
				}
				return
			}
			part, rest, ended := strings.Cut(b, "\n")
			line.size += len(part)
			line.text = append(line.text, part[:min(len(part), max(0, keep-len(line.text)))]...)
			if ended {
				line.text = append(line.text, '\n')
				c.lines = append(c.lines, line)
				line = diffLine{}
			}
			b = rest
		}
	}
	at := start
	for _, p := range pieces {
		add(string(w.text[at : p.start+shift]))
		add(p.text)
		at = p.end + shift
	}
	add(string(w.text[at:end]))
	switch {
	case line.size > 0 && len(c.lines) >= w.o.MaxLines:
		c.unsplit++
	case line.size > 0:
		c.lines = append(c.lines, line)
	}
	w.out = append(w.out, c)
	w.shift += c.added() - c.count
}

// compare adds the changes between two regions of whole lines.
func (w *diffWriter) compare(first int, before, after []byte) {
	if na, nb := countLines(before), countLines(after); na+nb > maxCompared {
		shown := splitLines(after, w.o.MaxLines)
		w.out = append(w.out, diffChange{a: first, count: na, b: first + w.shift, lines: wholeLines(shown), unsplit: nb - len(shown)})
		w.shift += nb - na
		return
	}
	a, b := splitLines(before, maxCompared), splitLines(after, maxCompared)
	ids := make(map[string]int, len(a))
	number := func(lines [][]byte) []int {
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
	for _, c := range compareLines(number(a), number(b)) {
		w.out = append(w.out, diffChange{a: first + c.a0, count: c.a1 - c.a0, b: first + w.shift + c.b0, lines: wholeLines(b[c.b0:c.b1])})
	}
	w.shift += len(b) - len(a)
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

// splitLines gives the first lines, at most so many.
func splitLines(text []byte, most int) [][]byte {
	out := make([][]byte, 0, min(most, countLines(text)))
	for len(text) > 0 && len(out) < most {
		n := bytes.IndexByte(text, '\n') + 1
		if n == 0 {
			n = len(text)
		}
		out = append(out, text[:n])
		text = text[n:]
	}
	return out
}

func (w *diffWriter) finish() string {
	if len(w.out) == 0 {
		return ""
	}
	for i := 0; i < len(w.out); {
		j := i + 1
		for j < len(w.out) && w.out[j].a-(w.out[j-1].a+w.out[j-1].count) <= 2*w.o.Context {
			j++
		}
		w.hunk(w.out[i:j])
		i = j
	}
	if w.hidden > 0 {
		fmt.Fprintf(&w.buffer, "[diff cut: %d more changed lines]\n", w.hidden)
	}
	return w.buffer.String()
}

func (w *diffWriter) hunk(changes []diffChange) {
	first, last := changes[0], changes[len(changes)-1]
	changed := 0
	for _, c := range changes {
		changed += c.count + c.added()
	}
	if w.left <= 0 {
		w.hidden += changed
		return
	}
	start := max(1, first.a-w.o.Context)
	end := min(w.lines.Count()+1, last.a+last.count+w.o.Context) // exclusive
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
		w.old('-', c.a, c.a+c.count)
		for _, l := range c.lines {
			w.line('+', l)
		}
		w.hidden += c.unsplit
		at = c.a + c.count
	}
	w.old(' ', at, end)
}

// diffRange prints a range as diff does: an empty one names the line before.
func diffRange(start, count int) string {
	switch count {
	case 0:
		return fmt.Sprintf("%d,0", start-1)
	case 1:
		return fmt.Sprint(start)
	}
	return fmt.Sprintf("%d,%d", start, count)
}

// old prints lines [from, to) of the old text.
func (w *diffWriter) old(mark byte, from, to int) {
	for n, l := range w.lines.From(from) {
		if n >= to {
			return
		}
		if w.left <= 0 {
			if mark != ' ' {
				w.hidden += to - n
			}
			return
		}
		w.line(mark, wholeLine(w.text[l.Start:l.End]))
	}
}

func (w *diffWriter) line(mark byte, l diffLine) {
	if w.left <= 0 {
		w.hidden++
		return
	}
	w.left--
	w.buffer.WriteByte(mark)
	text, ended := bytes.CutSuffix(l.text, []byte{'\n'})
	if l.size > w.o.MaxLine {
		w.buffer.WriteString(Clip(string(text[:w.o.MaxLine+1]), w.o.MaxLine))
		fmt.Fprintf(&w.buffer, " [line cut: %d bytes]", l.size)
	} else {
		w.buffer.Write(text)
	}
	w.buffer.WriteByte('\n')
	if !ended {
		w.buffer.WriteString("\\ No newline at end of file\n")
	}
}
