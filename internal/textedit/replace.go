package textedit

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"quarry/change"
	"quarry/internal/splice"
	"quarry/internal/textfile"
)

func (p *planner) replaceText(e change.Edit) (Outcome, error) {
	oldText, newText := textfile.LF.Convert(e.Old), textfile.LF.Convert(e.New)
	switch {
	case e.Old == "":
		return Outcome{}, ErrEmptyOld
	case oldText == newText:
		return Outcome{}, ErrSame
	case e.Occurrence < change.All:
		return Outcome{}, invalid("occurrence %d: count from 1", e.Occurrence)
	}
	// An incomplete character in Old could match in the middle of a character.
	if _, err := textfile.UTF16LE.Append(nil, e.Old); err != nil {
		return Outcome{}, fmt.Errorf("text to replace: %w", err)
	}
	if e.Lenient {
		if line := omission(p.name, oldText, newText); line != "" {
			return Outcome{}, &change.OmissionError{Line: line}
		}
	}
	m := newMatcher(p.doc, oldText)
	rep := newReplacement(oldText, newText)
	if e.Occurrence == change.All {
		return p.replaceAll(e, m, rep)
	}
	var out Outcome
	seen := 0
	for start, end := range m.matches() {
		if seen++; seen == max(e.Occurrence, 1) {
			if err := p.addMatch(rep.piece(p.doc, &p.eol, start, end)); err != nil {
				return Outcome{}, err
			}
			out.Count, out.Line = 1, p.doc.LineAt(start)
			continue
		}
		out.Remaining++
		if len(out.RemainingLines) < maxRemainingLines {
			line := p.doc.LineAt(start)
			if n := len(out.RemainingLines); n == 0 || out.RemainingLines[n-1] != line {
				out.RemainingLines = append(out.RemainingLines, line)
			}
		}
	}
	switch {
	case seen == 0 && e.Lenient:
		return p.inexact(e, oldText, newText)
	case seen == 0:
		return out, &change.NotFoundError{Old: e.Old, Near: p.closest(e.Old)}
	case out.Count == 0:
		return out, &occurrenceError{Want: e.Occurrence, Have: seen}
	case e.Occurrence == change.Only && out.Remaining > 0:
		return out, &change.AmbiguousError{Count: out.Remaining + 1, Lines: slices.Compact(append([]int{out.Line}, out.RemainingLines...))}
	}
	return out, nil
}

// addMatch adds the piece for one match.
func (p *planner) addMatch(s piece) error {
	s.edit = p.edit
	p.pieces = append(p.pieces, s)
	return p.grow(int64(len(s.text) - (s.end - s.start)))
}

// maxKept limits the number of matches stored as pieces. If there are more, the text is
// searched again each time the pieces are needed. A stored piece takes about 200 bytes. For
// every letter of a 100 MB file that would be 20 GB.
const maxKept = 4096

// replaceAll plans the replacement of every match.
func (p *planner) replaceAll(e change.Edit, m *matcher, rep *replacement) (Outcome, error) {
	n := m.count()
	if n == 0 {
		return Outcome{}, &change.NotFoundError{Old: e.Old, Near: p.closest(e.Old)}
	}
	// If the result is certain to be too large, report its size.
	if size := p.size + int64(n)*int64(rep.least()); size > p.limit {
		return Outcome{}, &SizeError{Size: size, Max: p.limit}
	}
	all := &everywhere{doc: p.doc, m: m, rep: rep, edit: p.edit}
	out := Outcome{Count: n}
	first, _, _ := m.first()
	out.Line = p.doc.LineAt(first)
	if n > maxKept && !rep.newlines && rep.oldBreaks == 0 { // each match grows the file by the same amount
		p.every = append(p.every, all)
		return out, p.grow(int64(n) * int64(rep.least()))
	}
	for s := range all.pieces() {
		if n > maxKept {
			if err := p.grow(int64(len(s.text) - (s.end - s.start))); err != nil {
				return Outcome{}, err
			}
		} else if err := p.addMatch(s); err != nil {
			return Outcome{}, err
		}
	}
	if n > maxKept {
		p.every = append(p.every, all)
	}
	return out, nil
}

// everywhere is the replacement of all matches of a text. The matches are not stored but
// searched for each time.
type everywhere struct {
	doc  *textfile.Text
	m    *matcher
	rep  *replacement
	edit int
}

func (a *everywhere) pieces() iter.Seq[piece] {
	return func(yield func(piece) bool) {
		var eol endings
		for start, end := range a.m.matches() {
			s := a.rep.piece(a.doc, &eol, start, end)
			if s.edit = a.edit; !yield(s) {
				return
			}
		}
	}
}

// replacement is New reduced to its difference from Old. Both have \n endings.
type replacement struct {
	prefix, suffix string // the unchanged beginning and end of Old
	body           [2]string
	newlines       bool
	oldLen         int // length of Old without prefix and suffix
	oldBreaks      int // number of line breaks in that part
}

func newReplacement(oldText, newText string) *replacement {
	i := splice.Prefix(oldText, newText)
	for i > 0 && !(boundary(oldText, i) && boundary(newText, i)) {
		i--
	}
	j := splice.Suffix(oldText[i:], newText[i:])
	for j > 0 && !utf8.RuneStart(oldText[len(oldText)-j]) {
		j--
	}
	body, gone := newText[i:len(newText)-j], oldText[i:len(oldText)-j]
	return &replacement{
		prefix: oldText[:i], suffix: oldText[len(oldText)-j:],
		body:     [2]string{body, strings.ReplaceAll(body, "\n", "\r\n")},
		newlines: strings.Contains(body, "\n"),
		oldLen:   len(gone), oldBreaks: strings.Count(gone, "\n"),
	}
}

func boundary(s string, i int) bool { return i == len(s) || utf8.RuneStart(s[i]) }

// least returns the minimum number of bytes that one replacement adds to the text.
func (r *replacement) least() int {
	return min(len(r.body[textfile.LF])-r.oldLen, len(r.body[textfile.CRLF])-r.oldLen-r.oldBreaks)
}

// piece returns the replacement of the match [start, end).
func (r *replacement) piece(t *textfile.Text, eols *endings, start, end int) piece {
	eol := textfile.LF
	if r.newlines {
		eol = eols.at(t, start)
	}
	return piece{
		start: skip(t, start, r.prefix), end: skipBack(t, end, r.suffix), namedStart: start, namedEnd: end,
		text: r.body[eol], eol: eol,
	}
}

// skip returns the offset after s in text. s must be at off, but its line endings may differ.
func skip(text *textfile.Text, off int, s string) int {
	for {
		i := strings.IndexByte(s, '\n')
		if i < 0 {
			return off + len(s)
		}
		if off += i; text.Byte(off) == '\r' {
			off++
		}
		off++
		s = s[i+1:]
	}
}

func skipBack(text *textfile.Text, off int, s string) int {
	for {
		i := strings.LastIndexByte(s, '\n')
		if i < 0 {
			return off - len(s)
		}
		if off -= len(s) - i; off > 0 && text.Byte(off-1) == '\r' {
			off--
		}
		s = s[:i]
	}
}

// matcher finds literal text, regardless of the kind of line endings. \r\n counts as one
// character equal to \n, so a match never begins or ends inside a \r\n.
//
// It takes one search of the raw bytes if all line endings of the file are of one kind, or if
// the wanted text has none. In a file with both kinds it searches a copy with \n only, and
// maps the offsets back.
type matcher struct {
	text   *textfile.Text
	pat    []byte
	whole  bool // pat ends in \r, so a match must not be followed by \n
	folded bool // text has \n only
}

func newMatcher(text *textfile.Text, old string) *matcher {
	m := &matcher{text: text, pat: []byte(old)}
	if !strings.ContainsAny(old, "\r\n") {
		return m
	}
	e := text.Endings()
	switch {
	case e.CRLF == 0:
	case e.LF == 0:
		m.pat = []byte(strings.ReplaceAll(old, "\n", "\r\n"))
		m.whole = strings.HasSuffix(old, "\r")
	default:
		m.text, m.folded = text.Folded(), true
	}
	return m
}

// found yields the matches as offsets in the searched text, from left to right without overlap.
func (m *matcher) found() iter.Seq2[int, int] {
	if !m.whole {
		return func(yield func(int, int) bool) {
			for start := range m.text.Matches(m.pat) {
				if !yield(start, start+len(m.pat)) {
					return
				}
			}
		}
	}
	return func(yield func(int, int) bool) {
		for from := 0; ; {
			start := m.text.Index(from, m.pat)
			if start < 0 {
				return
			}
			end := start + len(m.pat)
			if end < m.text.Len() && m.text.Byte(end) == '\n' {
				from = start + 1
				continue
			}
			if !yield(start, end) {
				return
			}
			from = end
		}
	}
}

// matches yields the matches as spans of the file's text.
func (m *matcher) matches() iter.Seq2[int, int] {
	if !m.folded {
		return m.found()
	}
	return func(yield func(int, int) bool) {
		for start, end := range m.found() {
			if start = m.text.Unfolded(start); !yield(start, m.text.Unfolded(end)) {
				return
			}
		}
	}
}

func (m *matcher) first() (start, end int, ok bool) {
	for start, end := range m.matches() {
		return start, end, true
	}
	return 0, 0, false
}

func (m *matcher) count() int {
	if !m.whole {
		return m.text.Count(0, m.pat)
	}
	n := 0
	for range m.found() {
		n++
	}
	return n
}
