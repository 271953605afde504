package textedit

import (
	"bytes"

	"quarry/change"
	"quarry/internal/splice"
	"quarry/internal/textfile"
)

// DiffTexts returns the unified diff from one text to another, or "" if they are equal.
func DiffTexts(before, after []byte, o *DiffOptions) string {
	hunks, _ := diffTexts(textfile.Verbatim(before), textfile.Verbatim(after), false, o)
	return hunks
}

// DiffLarge is like DiffTexts, for texts that need not be in memory. It also counts the
// omitted parts. If both texts have a byte order mark, the diff shows it.
func DiffLarge(before, after *textfile.Text, o *DiffOptions) (string, change.Cut) {
	bom := before.Encoding() == textfile.UTF8BOM && after.Encoding() == textfile.UTF8BOM
	return diffTexts(before, after, bom, o)
}

// If the differing parts of two texts, old and new together, are at most maxDiffering bytes,
// they are compared line by line. Otherwise only the first windowBytes of each are compared,
// and the other lines counted.
const (
	maxDiffering = 8 << 20
	windowBytes  = 256 << 10
	windowLines  = 20_000
)

func diffTexts(before, after *textfile.Text, bom bool, o *DiffOptions) (string, change.Cut) {
	w := newDiffWriter(o, before, bom)
	p := before.LastNewline(commonPrefix(before, after)) + 1
	endA, endB := before.Len(), after.Len()
	// The common suffix must begin after a newline in both texts.
	if s := commonSuffix(before, after, p); s < endA-p || s < endB-p {
		i := before.Index(endA-s, []byte{'\n'})
		if s == 0 || i < 0 {
			s = 0
		} else {
			s -= i + 1 - (endA - s)
		}
		endA, endB = endA-s, endB-s
	} else {
		return "", change.Cut{}
	}
	first := before.LineAt(p)
	small := endA-p+endB-p <= maxDiffering
	if small {
		a, b := before.Slice(p, endA), after.Slice(p, endB)
		if small = countLines(a)+countLines(b) <= maxCompared; small {
			w.compare(first, w.marked(p, a), w.marked(p, b))
		}
	}
	if !small {
		w.compareLarge(after, first, p, endA, endB)
	}
	return w.finish()
}

// marked returns text, which is at offset at, as the diff shows it: with a byte order mark
// before the first line.
func (w *diffWriter) marked(at int, text []byte) []byte {
	if at > 0 || !w.bom {
		return text
	}
	return append([]byte(textfile.UTF8BOM.BOM()), text...)
}

// compareLarge compares the first lines of the parts that differ from offset p on, and counts
// the other lines.
func (w *diffWriter) compareLarge(after *textfile.Text, first, p, endA, endB int) {
	a, b := firstLines(w.text, p, endA), firstLines(after, p, endB)
	w.compare(first, w.marked(p, a), w.marked(p, b))
	atA, atB := p+len(a), p+len(b)
	rest := diffChange{a: first + countLines(a), count: linesIn(w.text, atA, endA), unsplit: linesIn(after, atB, endB)}
	if rest.count+rest.unsplit > 0 {
		w.push(rest)
	}
}

// firstLines returns the whole lines, from offset from on, that fit into windowBytes. It
// returns none if the first line doesn't fit.
func firstLines(t *textfile.Text, from, to int) []byte {
	b := t.Slice(from, min(to, from+windowBytes))
	at := 0
	for range windowLines {
		i := bytes.IndexByte(b[at:], '\n')
		if i < 0 {
			if from+len(b) == to {
				at = len(b)
			}
			break
		}
		at += i + 1
	}
	return b[:at]
}

func linesIn(t *textfile.Text, from, to int) int {
	n, open := 0, false
	for s := range t.Spans(from, to) {
		n += bytes.Count(s, []byte{'\n'})
		open = s[len(s)-1] != '\n'
	}
	if open {
		n++
	}
	return n
}

// commonPrefix returns the number of equal bytes at the beginning of two texts.
func commonPrefix(a, b *textfile.Text) int {
	n := min(a.Len(), b.Len())
	for i := 0; i < n; {
		x, y := a.Span(i), b.Span(i)
		m := min(len(x), len(y), n-i)
		if m == 0 {
			return i
		}
		if k := alike(x[:m], y[:m]); k < m {
			return i + k
		}
		i += m
	}
	return n
}

func alike(a, b []byte) int {
	const step = 4096
	i := 0
	for i+step <= len(a) && bytes.Equal(a[i:i+step], b[i:i+step]) {
		i += step
	}
	return i + splice.Prefix(a[i:], b[i:])
}

// commonSuffix returns the number of equal bytes at the end of two texts, without the first
// from bytes of each.
func commonSuffix(a, b *textfile.Text, from int) int {
	n := min(a.Len(), b.Len()) - from
	const step = 32 << 10
	for s := 0; s < n; {
		m := min(step, n-s)
		x, y := a.Slice(a.Len()-s-m, a.Len()-s), b.Slice(b.Len()-s-m, b.Len()-s)
		if !bytes.Equal(x, y) {
			return s + splice.Suffix(x, y)
		}
		s += m
	}
	return n
}
