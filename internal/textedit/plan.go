package textedit

import (
	"bytes"
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"quarry/change"
	"quarry/internal/textfile"
)

// planner collects the pieces of all edits of one change.
type planner struct {
	doc    *textfile.Document
	text   []byte
	edit   int
	pieces []piece

	// Of hunks: the lines of the text, how far the last one stood from the line
	// it named, whether any did, and the edits that follow.
	index   lineIndex
	shift   int
	shifted bool
	later   []change.Edit
	alone   bool // there is one edit: nothing can stand between its matches

	size, limit int64 // of the new file, as far as it is planned, in bytes of text

	// The last answer of endingAt holds for offsets from the one asked to
	// the newline it found, or to the end. Without this, replacing all in
	// one huge line would look for its end once per match.
	eolFrom, eolTo int
	eol            textfile.Ending
}

func (p *planner) endingAt(off int) textfile.Ending {
	if off < p.eolFrom || off >= p.eolTo {
		p.eolFrom, p.eolTo = off, len(p.text)+1
		if i := bytes.IndexByte(p.text[off:], '\n'); i >= 0 {
			p.eolTo = off + i + 1
		}
		p.eol = textfile.EndingAt(p.text, off)
	}
	return p.eol
}

// grow adds to the size of the new file.
func (p *planner) grow(by int64) error {
	if p.size += by; p.size > p.limit {
		return &SizeError{Size: p.size, Max: p.limit}
	}
	return nil
}

func (p *planner) add(start, end int, text string, eol textfile.Ending) *piece {
	p.size += int64(len(text) - (end - start))
	p.pieces = append(p.pieces, piece{
		start: start, end: end, namedStart: start, namedEnd: end,
		edit: p.edit, text: text, eol: eol,
	})
	return &p.pieces[len(p.pieces)-1]
}

// maxRemainingLines bounds the list of lines with further occurrences; their
// number is always exact.
const maxRemainingLines = 20

// plan finds what an edit names and notes the pieces that change it.
func (p *planner) plan(e change.Edit) (Outcome, error) {
	switch e.Verb {
	case change.ReplaceText:
		return p.replaceText(e)
	case change.ReplaceLines:
		return p.replaceLines(e)
	case change.DeleteLines:
		return p.deleteLines(e)
	case change.InsertAfter:
		return p.insertAfter(e)
	case change.InsertBefore:
		return p.insertBefore(e)
	case change.ReplaceSpan:
		return p.replaceSpan(e)
	case change.ApplyHunk:
		return p.applyHunk(e)
	}
	return Outcome{}, fmt.Errorf("unknown edit %d", e.Verb)
}

func (p *planner) replaceText(e change.Edit) (Outcome, error) {
	oldText, newText := textfile.LF.Convert(e.Old), textfile.LF.Convert(e.New)
	switch {
	case e.Old == "":
		return Outcome{}, ErrEmptyOld
	case oldText == newText:
		return Outcome{}, ErrSame
	case e.Occurrence < change.All:
		return Outcome{}, fmt.Errorf("occurrence %d: count from 1", e.Occurrence)
	}
	// Half a character in Old could match in the middle of one.
	if _, err := textfile.UTF16LE.Append(nil, e.Old); err != nil {
		return Outcome{}, fmt.Errorf("text to replace: %w", err)
	}
	m := newMatcher(p.text, oldText)
	rep := newReplacement(oldText, newText)
	if e.Occurrence == change.All {
		if err := p.affordable(m.count(0), oldText, newText); err != nil {
			return Outcome{}, err
		}
	}
	var out Outcome
	seen, lines := 0, lineCounter{text: p.text}
	for at := 0; ; {
		start, end, ok := m.next(at)
		if !ok {
			break
		}
		at = end
		if seen++; e.Occurrence == change.All || seen == max(e.Occurrence, 1) {
			if err := rep.add(p, start, end); err != nil {
				return Outcome{}, err
			}
			if out.Count++; out.Count == 1 {
				out.Line = lines.at(start)
			}
			continue
		}
		out.Remaining++
		line := lines.at(start)
		if n := len(out.RemainingLines); n == 0 || n < maxRemainingLines && out.RemainingLines[n-1] != line {
			out.RemainingLines = append(out.RemainingLines, line)
		}
		if len(out.RemainingLines) == maxRemainingLines && out.Count > 0 {
			out.Remaining += m.count(at)
			break
		}
	}
	rep.flush(p)
	switch {
	case seen == 0:
		return out, &change.NotFoundError{Old: e.Old, Near: Closest(p.doc, e.Old).Contract()}
	case out.Count == 0:
		return out, &occurrenceError{Want: e.Occurrence, Have: seen}
	case e.Occurrence == change.Only && out.Remaining > 0:
		return out, &change.AmbiguousError{Count: out.Remaining + 1, Lines: slices.Compact(append([]int{out.Line}, out.RemainingLines...))}
	}
	return out, nil
}

// affordable refuses n replacements whose outcome is surely too large, or which
// are too many to be kept in memory: a long text is not merged, and each of its
// places costs placeCost bytes.
func (p *planner) affordable(n int, oldText, newText string) error {
	delta := len(newText) - len(oldText)
	crlf := delta + strings.Count(newText, "\n") - strings.Count(oldText, "\n")
	if size := p.size + int64(n)*int64(min(delta, crlf)); size > p.limit {
		return &SizeError{Size: size, Max: p.limit}
	}
	if most := (48<<20 + len(p.text)) / placeCost; n > most && (len(newText) > mergeGap || !p.alone) {
		return &PlacesError{Count: n, Max: most}
	}
	return nil
}

// placeCost is a piece, a splice and what hands it to the disk, in bytes.
const placeCost = 200

// lineCounter numbers offsets that only grow, counting each newline once.
type lineCounter struct {
	text []byte
	off  int
	n    int
}

func (l *lineCounter) at(off int) int {
	l.n += bytes.Count(l.text[l.off:off], []byte{'\n'})
	l.off = off
	return l.n + 1
}

// replacement is New cut down to what differs from Old, both with \n endings.
type replacement struct {
	prefix, suffix string // of Old, stay as they are in the file
	body           [2]string
	newlines       bool
	many           int   // matches so far
	dense          piece // being merged; its text is in buf
	buf            []byte
}

// Close to each other, many short replacements become one piece with what stands
// between them: each alone costs some 200 bytes, which for every letter of a file
// of 100 MB is 20 GB. Up to mergeFrom of them stay as they are, so that a journal
// and a diff see exactly what was named.
const (
	mergeFrom = 4096
	mergeGap  = 128      // bytes between two matches, and of new text
	mergeSize = 32 << 10 // bytes of one merged piece
)

func newReplacement(oldText, newText string) *replacement {
	n := min(len(oldText), len(newText))
	i := 0
	for i < n && oldText[i] == newText[i] {
		i++
	}
	for i > 0 && !(boundary(oldText, i) && boundary(newText, i)) {
		i--
	}
	j := 0
	for j < n-i && oldText[len(oldText)-1-j] == newText[len(newText)-1-j] {
		j++
	}
	for j > 0 && !utf8.RuneStart(oldText[len(oldText)-j]) {
		j--
	}
	body := newText[i : len(newText)-j]
	return &replacement{
		prefix: oldText[:i], suffix: oldText[len(oldText)-j:],
		body:     [2]string{body, strings.ReplaceAll(body, "\n", "\r\n")},
		newlines: strings.Contains(body, "\n"),
	}
}

func boundary(s string, i int) bool { return i == len(s) || utf8.RuneStart(s[i]) }

// add plans the replacement of the match [start, end).
func (r *replacement) add(p *planner, start, end int) error {
	eol := textfile.LF
	from, to := skip(p.text, start, r.prefix), skipBack(p.text, end, r.suffix)
	if r.newlines {
		eol = p.endingAt(start)
	}
	body := r.body[eol]
	r.many++
	if r.many <= mergeFrom || len(body) > mergeGap || !p.alone || !p.doc.Exact() {
		s := p.add(from, to, body, eol)
		s.namedStart, s.namedEnd = start, end
		return p.grow(0)
	}
	if d := &r.dense; d.merged && start-d.namedEnd <= mergeGap && len(r.buf) < mergeSize {
		r.buf = append(append(r.buf, p.text[d.end:from]...), body...)
		d.end, d.namedEnd = to, end
	} else {
		r.flush(p)
		r.dense = piece{start: from, end: to, namedStart: start, namedEnd: end, edit: p.edit, eol: eol, merged: true}
		r.buf = append(r.buf, body...)
	}
	return p.grow(int64(len(body) - (to - from)))
}

// flush ends the piece that is being merged. Its growth is counted already.
func (r *replacement) flush(p *planner) {
	if r.dense.merged {
		r.dense.text = string(r.buf)
		p.pieces = append(p.pieces, r.dense)
		r.dense, r.buf = piece{}, r.buf[:0]
	}
}

// skip returns where text that reads like s, line endings aside, ends when it
// begins at off. The caller knows that it is there.
func skip(text []byte, off int, s string) int {
	for {
		i := strings.IndexByte(s, '\n')
		if i < 0 {
			return off + len(s)
		}
		if off += i; text[off] == '\r' {
			off++
		}
		off++
		s = s[i+1:]
	}
}

func skipBack(text []byte, off int, s string) int {
	for {
		i := strings.LastIndexByte(s, '\n')
		if i < 0 {
			return off - len(s)
		}
		if off -= len(s) - i; off > 0 && text[off-1] == '\r' {
			off--
		}
		s = s[:i]
	}
}

// matcher finds literal text, line endings comparing equal. The text is seen
// as a row of characters in which \r\n is one and equal to \n, so a match
// never begins or ends inside a \r\n.
//
// It costs one search of the bytes as they are when the file's endings are
// all of one kind, or when the wanted text has none. A file with both is
// copied once with \n only, and offsets are mapped back.
type matcher struct {
	text   []byte
	pat    []byte
	whole  bool  // pat ends in \r: a match must not be followed by \n
	folded bool  // text is a copy with \n only
	at     []int // offsets in the copy of newlines that were \r\n
}

func newMatcher(text []byte, old string) *matcher {
	m := &matcher{text: text, pat: []byte(old)}
	if !strings.ContainsAny(old, "\r\n") {
		return m
	}
	e := textfile.CountEndings(text)
	switch {
	case e.CRLF == 0:
	case e.LF == 0:
		m.pat = []byte(strings.ReplaceAll(old, "\n", "\r\n"))
		m.whole = strings.HasSuffix(old, "\r")
	default:
		m.fold(e.CRLF)
	}
	return m
}

func (m *matcher) fold(crlfs int) {
	src := m.text
	m.folded = true
	m.text = make([]byte, 0, len(src)-crlfs)
	m.at = make([]int, 0, crlfs)
	for {
		i := bytes.Index(src, []byte("\r\n"))
		if i < 0 {
			m.text = append(m.text, src...)
			return
		}
		m.text = append(m.text, src[:i]...)
		m.at = append(m.at, len(m.text))
		m.text = append(m.text, '\n')
		src = src[i+2:]
	}
}

// unfold maps an offset of the copy back to the text.
func (m *matcher) unfold(off int) int { return off + sort.SearchInts(m.at, off) }

// refold is the inverse for the end of a match.
func (m *matcher) refold(off int) int {
	return off - sort.Search(len(m.at), func(i int) bool { return m.at[i]+i >= off })
}

// next returns the first match that begins at or behind from, which is 0 or
// the end of an earlier match.
func (m *matcher) next(from int) (start, end int, ok bool) {
	if m.folded {
		from = m.refold(from)
	}
	for {
		i := bytes.Index(m.text[from:], m.pat)
		if i < 0 {
			return 0, 0, false
		}
		start, end = from+i, from+i+len(m.pat)
		if m.whole && end < len(m.text) && m.text[end] == '\n' {
			from = start + 1
			continue
		}
		if m.folded {
			return m.unfold(start), m.unfold(end), true
		}
		return start, end, true
	}
}

// count returns how many matches there are from an offset on.
func (m *matcher) count(from int) int {
	if !m.whole {
		if m.folded {
			from = m.refold(from)
		}
		return bytes.Count(m.text[from:], m.pat)
	}
	n := 0
	for {
		_, end, ok := m.next(from)
		if !ok {
			return n
		}
		n, from = n+1, end
	}
}

func (p *planner) insertAfter(e change.Edit) (Outcome, error) {
	if e.First == 0 {
		return p.insert(0, 0, e.New), nil
	}
	line, err := p.line(e.First)
	if err != nil {
		return Outcome{}, err
	}
	return p.insert(line.End, e.First, e.New), nil
}

func (p *planner) insertBefore(e change.Edit) (Outcome, error) {
	line, err := p.line(e.First)
	if err != nil {
		return Outcome{}, err
	}
	return p.insert(line.Start, e.First-1, e.New), nil
}

func (p *planner) line(n int) (textfile.Line, error) {
	lines := p.doc.Lines()
	line, ok := lines.Line(n)
	if !ok {
		return line, &change.LineError{Line: n, Count: lines.Count()}
	}
	return line, nil
}

// lines finds the lines from first to last, both included.
func (p *planner) lines(e change.Edit) (first, last textfile.Line, err error) {
	if e.First > e.Last {
		return first, last, fmt.Errorf("invalid line range %d-%d: the first is after the last", e.First, e.Last)
	}
	if first, err = p.line(e.First); err != nil {
		return first, last, err
	}
	last, err = p.line(e.Last)
	return first, last, err
}

// insert puts text on lines of its own at the offset, which is behind a line.
func (p *planner) insert(at, after int, text string) Outcome {
	body := strings.TrimSuffix(textfile.LF.Convert(text), "\n")
	eol := textfile.EndingBefore(p.text, at)
	count := strings.Count(body, "\n") + 1
	glue := at > 0 && p.text[at-1] != '\n'
	if glue {
		body = "\n" + body
	} else {
		body += "\n"
	}
	if eol == textfile.CRLF {
		body = strings.ReplaceAll(body, "\n", "\r\n")
	}
	p.add(at, at, body, eol).glue = glue
	return Outcome{Count: count, Line: after}
}

func (p *planner) deleteLines(e change.Edit) (Outcome, error) {
	first, last, err := p.lines(e)
	if err != nil {
		return Outcome{}, err
	}
	p.add(first.Start, last.End, "", textfile.LF)
	return Outcome{Count: e.Last - e.First + 1, Line: e.First}, nil
}

// replaceLines puts lines in the place of others. The last line of the file
// keeps its way of ending: with a line break, or without.
func (p *planner) replaceLines(e change.Edit) (Outcome, error) {
	if e.New == "" {
		return p.deleteLines(e)
	}
	first, last, err := p.lines(e)
	if err != nil {
		return Outcome{}, err
	}
	eol := p.endingAt(first.Start)
	s := p.add(first.Start, last.Content, eol.Convert(strings.TrimSuffix(textfile.LF.Convert(e.New), "\n")), eol)
	s.namedEnd = last.End
	return Outcome{Count: e.Last - e.First + 1, Line: e.First}, nil
}

func (p *planner) replaceSpan(e change.Edit) (Outcome, error) {
	if e.Start < 0 || e.End < e.Start || e.End > len(p.text) {
		return Outcome{}, fmt.Errorf("span %d-%d does not lie in a text of %d bytes", e.Start, e.End, len(p.text))
	}
	for _, off := range [2]int{e.Start, e.End} {
		if off < len(p.text) && !utf8.RuneStart(p.text[off]) {
			return Outcome{}, fmt.Errorf("offset %d is inside a character", off)
		}
	}
	eol := textfile.EndingAt(p.text, e.Start)
	p.add(e.Start, e.End, eol.Convert(e.New), eol)
	return Outcome{Count: 1, Line: p.doc.Lines().At(e.Start)}, nil
}
