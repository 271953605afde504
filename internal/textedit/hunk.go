package textedit

import (
	"errors"
	"iter"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/textfile"
)

// hunk is a parsed hunk. Its lines have no line ending.
type hunk struct {
	lines []hunkLine
	old   []int // indexes in lines of the context and removed lines
}

type hunkLine struct {
	kind  byte   // ' ', '-' or '+'
	text  string // including the \r before its line ending, if any
	noEOL bool   // the line is the last of its file and has no line ending
}

func (l *hunkLine) content() string { return strings.TrimSuffix(l.text, "\r") }

// parseHunk reads the body of a hunk.
func parseHunk(e change.Edit) (*hunk, error) {
	h := &hunk{}
	for line := range strings.Lines(e.Hunk) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "": // an empty context line that has lost its space
			h.lines = append(h.lines, hunkLine{kind: ' '})
		case line[0] == '\\':
			if len(h.lines) == 0 {
				return nil, invalid("invalid hunk: it begins with %q", line)
			}
			h.lines[len(h.lines)-1].noEOL = true
			continue
		case strings.IndexByte(" -+", line[0]) < 0:
			return nil, invalid("invalid hunk: the line %q begins with neither a space, - nor +", fault.Clip(line, 80))
		default:
			h.lines = append(h.lines, hunkLine{kind: line[0], text: line[1:]})
		}
		if h.lines[len(h.lines)-1].kind != '+' {
			h.old = append(h.old, len(h.lines)-1)
		}
	}
	if len(h.lines) == len(h.old) && !slices.ContainsFunc(h.lines, func(l hunkLine) bool { return l.kind == '-' }) {
		return nil, ErrSame
	}
	return h, nil
}

// oldText returns the text that the hunk expects. It is used to find the closest text for an error.
func (h *hunk) oldText() string {
	var b strings.Builder
	for _, i := range h.old {
		b.WriteString(h.lines[i].content())
		b.WriteByte('\n')
	}
	return b.String()
}

// newText returns the text of the hunk's new side.
func (h *hunk) newText() string {
	var b strings.Builder
	for _, line := range h.newLines() {
		b.WriteString(line)
		b.WriteByte('\n')
	}
	return b.String()
}

// newLines returns the contents of the context and added lines.
func (h *hunk) newLines() []string {
	var lines []string
	for i := range h.lines {
		if h.lines[i].kind != '-' {
			lines = append(lines, h.lines[i].content())
		}
	}
	return lines
}

// applyHunk locates a hunk and plans its changed lines.
func (p *planner) applyHunk(e change.Edit) (Outcome, error) {
	if !utf8.ValidString(e.Hunk) && p.doc.Encoding() == textfile.Windows1252 {
		e.Hunk = string(textfile.Decode1252([]byte(e.Hunk)))
	}
	h, err := parseHunk(e)
	if err != nil {
		return Outcome{}, err
	}
	if e.Lenient {
		if line := omission(p.name, h.oldText(), h.newText()); line != "" {
			return Outcome{}, &change.OmissionError{Line: line}
		}
	}
	at, err := p.place(e, h)
	switch {
	case err == errNowhere && e.Lenient && e.Loose:
		// The white space of a handwritten hunk may be wrong, so try to match with other white space.
		return p.inexact(change.Edit{Old: h.oldText()}, h.oldText(), h.newText())
	case err == errNowhere:
		return Outcome{}, p.nowhere(e, h)
	case err != nil:
		return Outcome{}, err
	case !e.Certain && p.appliedAt(h, at.line):
		return Outcome{}, &change.AlreadyError{Line: at.line, Added: true}
	case p.numbered(e) && at.line != e.First+p.shift && !h.bare() && p.linesAt(e.First+p.shift, h.newLines()):
		// The hunk was already applied at its line; the lines found are a copy elsewhere.
		return Outcome{}, &change.AlreadyError{Line: e.First + p.shift, Added: true}
	}
	if p.counted(e) && at.line < p.after {
		return Outcome{}, &misplacedError{at: at.line, stated: e.First + p.shift} // hunks of a diff are in order
	}
	if e.First > 0 && len(h.old) > 0 {
		p.shift, p.shifted = at.line-e.First, true
		p.after = at.line + len(h.old)
	}
	return p.hunkAt(h, at, e), nil
}

// counted reports whether the hunk has a line number that was computed by a program, not
// written by a person or model, for a file that may have changed since.
func (p *planner) counted(e change.Edit) bool { return p.numbered(e) && !e.Stated }

// numbered reports whether a hunk has a line number, for a version of the file that may have
// changed since.
func (p *planner) numbered(e change.Edit) bool { return e.First > 0 && !e.Loose && !e.Certain }

// mostMatch reports whether at least half of a hunk's old lines are at its line number. If so,
// the hunk belongs there although the text has changed, and not at another place with the same
// lines. If the number may be handwritten, two thirds of at least three lines must match.
func (p *planner) mostMatch(e change.Edit, h *hunk) bool {
	at := e.First + p.shift
	same, all := 0, 0
	for k, i := range h.old {
		text := h.lines[i].content()
		if strings.TrimSpace(text) == "" {
			continue
		}
		all++
		if line, ok := p.doc.Line(at + k); ok && string(p.doc.Slice(line.Start, line.Content)) == text {
			same++
		}
	}
	if e.Stated {
		return all > 2 && 3*same >= 2*all
	}
	return all > 1 && 2*same >= all
}

// position is the place of a run of lines: the number of the first line, from 1, and its offset.
type position struct{ line, off int }

// place returns where the hunk's old lines begin. For a hunk without old lines, it returns the
// line before which to add lines.
func (p *planner) place(e change.Edit, h *hunk) (position, error) {
	if len(h.old) == 0 {
		if !e.Loose && !e.Certain && p.doc.Len() > 0 {
			return position{}, errNoContext
		}
		count := p.doc.LineCount()
		at := count + 1
		if e.First > 0 || !e.Loose {
			at = e.First + p.shift + 1 // a header with "-5,0" adds after line 5
		}
		if at < 1 || at > count+1 {
			return position{}, &change.LineError{Line: at - 1, Count: count}
		}
		if line, ok := p.doc.Line(at); ok {
			return position{at, line.Start}, nil
		}
		return position{at, p.doc.Len()}, nil
	}
	// Two candidates suffice to see that the place is ambiguous.
	found := p.candidates(e, h, 2)
	if p.compared > maxLineChecks {
		return position{}, errTooCommon
	}
	switch found.n {
	case 0:
		return position{}, errNowhere
	case 1:
		if at := found.first[0]; !p.evident(e, h, at.line) || p.numbered(e) && at.line != e.First+p.shift && p.mostMatch(e, h) {
			return position{}, &misplacedError{at: at.line, stated: e.First + p.shift}
		}
		if (e.AtStart || e.AtEnd) && !e.Loose && !e.Certain && found.first[0].line != e.First+p.shift {
			// The hunk's place at the edge of the file contradicts its line number. If the
			// lines also occur elsewhere, the ones at the edge may be a copy.
			if all := p.candidates(anywhere(e), h, 2); all.n > 1 {
				return position{}, &change.AmbiguousError{Count: all.n, Lines: []int{all.first[0].line, all.first[1].line}}
			}
		}
		return found.first[0], nil
	}
	if line, ok := p.doc.Line(e.First + p.shift); ok && e.First > 0 && p.matchesAt(e, h, line.Start) && p.agrees(e, h) {
		return position{e.First + p.shift, line.Start}, nil
	}
	limit := math.MaxInt
	if p.ambiguous++; p.ambiguous > maxNears && e.Anchor == "" {
		limit = maxRemainingLines + 1 // further places won't be used
	}
	if found = p.candidates(e, h, limit); p.compared > maxLineChecks {
		return position{}, errTooCommon
	}
	if e.Anchor != "" {
		if at, ok := p.afterAnchor(e.Anchor, found); ok {
			return at, nil
		} else if p.compared > maxLineChecks {
			return position{}, errTooCommon
		}
	}
	err := &change.AmbiguousError{Count: found.n}
	for _, at := range found.first[:min(len(found.first), maxRemainingLines)] {
		err.Lines = append(err.Lines, at.line)
	}
	return position{}, err
}

// errNowhere means that a hunk's old lines don't occur, or not at the edge of the file where
// the hunk requires them.
var errNowhere = errors.New("the hunk's lines are not there")

// nowhere returns the error for a hunk whose lines were not found. It first checks whether the
// hunk was already applied, which is frequent and cheap to find out.
func (p *planner) nowhere(e change.Edit, h *hunk) error {
	if text := h.newText(); spacedOf(text).distinctWords() {
		made := &hunk{}
		for _, l := range h.lines {
			if l.kind != '-' {
				made.old, made.lines = append(made.old, len(made.lines)), append(made.lines, l)
			}
		}
		if found := p.candidates(change.Edit{Loose: true}, made, 2); found.n == 1 {
			return &change.AlreadyError{Line: found.first[0].line}
		}
	}
	if e.AtStart || e.AtEnd {
		if found := p.candidates(anywhere(e), h, 1); found.n > 0 {
			return &edgeError{line: found.first[0].line, start: e.AtStart && found.first[0].line > 1}
		}
	}
	return &change.NotFoundError{Old: h.oldText(), Near: p.closest(h.oldText())}
}

// appliedAt reports whether a hunk was already applied at a line where its old lines begin: its
// new lines are there, and contain the old lines in one piece.
func (p *planner) appliedAt(h *hunk, line int) bool {
	var before []string
	for _, i := range h.old {
		before = append(before, h.lines[i].content())
	}
	after := h.newLines()
	for k := 0; k+len(before) <= len(after); k++ {
		if slices.Equal(after[k:k+len(before)], before) && p.linesAt(line-k, after) {
			return true
		}
	}
	return false
}

// linesAt reports whether lines with these contents begin at line.
func (p *planner) linesAt(line int, contents []string) bool {
	at, ok := p.doc.Line(line)
	off := at.Start
	for i := 0; ok && i < len(contents); i++ {
		off, ok = p.lineIs(off, contents[i])
	}
	return ok
}

// anywhere returns the hunk e without its claim to be at the start or end of the file.
func anywhere(e change.Edit) change.Edit {
	e.AtStart, e.AtEnd = false, e.AtEnd && e.Loose
	return e
}

// candidatePlaces are the places where a hunk's old lines match.
type candidatePlaces struct {
	n     int
	first []position // at most maxPlaces
}

// maxPlaces limits the list of places: a blank line may occur a million times in a log.
const maxPlaces = 1 << 18

func (p *planner) candidates(e change.Edit, h *hunk, limit int) candidatePlaces {
	var found candidatePlaces
	for off := range p.starts(h) {
		if p.compared++; p.compared > maxLineChecks {
			break
		}
		if !p.matchesAt(e, h, off) {
			continue
		}
		if found.n++; found.n <= maxPlaces {
			found.first = append(found.first, position{p.doc.LineAt(off), off})
		}
		if found.n == limit || found.n%1024 == 0 && p.doc.Stopped() {
			break
		}
	}
	return found
}

// linesWith yields the offsets of the lines that equal content.
func (p *planner) linesWith(content string) iter.Seq[int] {
	return func(yield func(int) bool) {
		if _, ok := p.lineIs(0, content); ok && !yield(0) {
			return
		}
		pat := []byte("\n" + content)
		for from := 0; ; {
			i := p.doc.Index(from, pat)
			if i < 0 {
				return
			}
			from = i + 1
			if _, ok := p.lineIs(from, content); ok && !yield(from) {
				return
			}
		}
	}
}

// lineIs reports whether the line at off equals content, and returns the start of the next line.
func (p *planner) lineIs(off int, content string) (next int, ok bool) {
	end, size := off+len(content), p.doc.Len()
	if off >= size || end > size || string(p.doc.Slice(off, end)) != content || strings.Contains(content, "\n") {
		return 0, false
	}
	switch {
	case end == size:
		return size, true
	case p.doc.Byte(end) == '\n':
		return end + 1, !strings.HasSuffix(content, "\r") // a \r at the end would belong to the line ending
	case p.doc.Byte(end) == '\r' && end+1 < size && p.doc.Byte(end+1) == '\n':
		return end + 2, true
	}
	return 0, false
}

// matchesAt reports whether the hunk's old lines match at an offset.
func (p *planner) matchesAt(e change.Edit, h *hunk, off int) bool {
	start := off
	for _, n := range h.old {
		var ok bool
		if off, ok = p.lineIs(off, h.lines[n].content()); !ok {
			return false
		}
		p.compared++
	}
	last := off == p.doc.Len()
	if !e.Certain && (e.AtStart && start > 0 || e.AtEnd && !last) && !(e.Stated && p.doc.LineAt(start) == e.First+p.shift) {
		return false
	}
	if e.Loose {
		return true
	}
	end := &h.lines[h.old[len(h.old)-1]]
	return end.noEOL == (last && !p.doc.Terminated())
}

// agrees reports whether a hunk's line number can be trusted: if the file is the version
// that the patch was made for, if an earlier hunk or the next one with a single matching
// place has moved by the same number of lines, or if enough lines around it match.
func (p *planner) agrees(e change.Edit, h *hunk) bool {
	if e.Certain {
		return true
	}
	if h.bare() {
		return false // a single line occurs in many places
	}
	wide := h.wide(e.First+p.shift, p.doc.LineCount())
	if p.shifted && wide {
		return true
	}
	if shift, ok := p.laterShift(); ok {
		return shift == p.shift
	}
	return wide
}

// laterShift returns by how many lines the next hunk with a single matching place has moved.
func (p *planner) laterShift() (shift int, ok bool) {
	for p.next = max(p.next, p.edit+1); p.next-p.edit-1 < len(p.later); p.next++ {
		later := p.later[p.next-p.edit-1]
		if at := p.onlyPlace(p.next, later); at.line > 0 {
			return at.line - later.First, true
		}
		if p.doc.Stopped() {
			break
		}
	}
	return 0, false
}

// evident reports whether the only place where a hunk matches is certain to be the right one. With
// less than the usual context it isn't: the right place may have changed, while the same lines occur
// elsewhere. That happened with 3 of 400 diffs with one line of context, one of which had four lines
// of text. In that case the place must be at the patch's line number, or a later hunk must have
// moved by the same number of lines. A long line that is replaced without context also suffices.
func (p *planner) evident(e change.Edit, h *hunk, at int) bool {
	if e.Loose || e.Certain || e.First == 0 || at == e.First+p.shift || h.wide(at, p.doc.LineCount()) {
		return true
	}
	if e.Stated && !h.bare() {
		return true // handwritten hunks have less context, and seldom the right number
	}
	if shift, ok := p.laterShift(); ok && shift == at-e.First {
		return true
	}
	return h.bare() && e.Stated && longEnough(h.oldText())
}

// onlyPlace returns the place of a later hunk if the hunk has a line number and matches at a
// single place. It caches the result.
func (p *planner) onlyPlace(i int, later change.Edit) position {
	if at, ok := p.alone[i]; ok || p.doc.Stopped() {
		return at
	}
	var at position
	if later.Verb == change.ApplyHunk && later.First > 0 {
		if h, err := parseHunk(later); err == nil && len(h.old) > 0 {
			if found := p.candidates(later, h, 2); found.n == 1 {
				at = found.first[0]
			}
		}
	}
	if p.alone == nil {
		p.alone = map[int]position{}
	}
	p.alone[i] = at
	return at
}

// bare reports whether a hunk has no context.
func (h *hunk) bare() bool {
	return !slices.ContainsFunc(h.lines, func(l hunkLine) bool { return l.kind == ' ' })
}

// longEnough reports whether a text without context can identify its place.
func longEnough(text string) bool {
	n := 0
	for _, r := range text {
		if !unicode.IsSpace(r) {
			n++
		}
	}
	return n >= 20
}

// wideContext is the number of context lines that diff prints by default.
const wideContext = 3

// wide reports whether a hunk that matches at line at has three lines of context before and
// after the change, or as many as the file has there.
func (h *hunk) wide(at, count int) bool {
	before, after := 0, 0
	for before < len(h.lines) && h.lines[before].kind == ' ' {
		before++
	}
	for after < len(h.lines) && h.lines[len(h.lines)-1-after].kind == ' ' {
		after++
	}
	atTop, atEnd := at == 1, at+len(h.old)-1 == count
	return (before >= wideContext || atTop) && (after >= wideContext || atEnd)
}

// afterAnchor returns the first of the found places after the line that contains anchor. ok is
// false if the anchor occurs several times, before different places.
func (p *planner) afterAnchor(anchor string, found candidatePlaces) (at position, ok bool) {
	if found.n > len(found.first) {
		return position{}, false
	}
	anchor = strings.TrimSpace(anchor)
	for n, l := range p.doc.LinesFrom(1) {
		if p.compared++; p.compared > maxLineChecks {
			return position{}, false
		}
		if l.Content-l.Start > len(anchor)+maxAnchorSpace || strings.TrimSpace(string(p.doc.Slice(l.Start, l.Content))) != anchor {
			continue
		}
		i, _ := slices.BinarySearchFunc(found.first, n+1, func(s position, line int) int { return s.line - line }) // the place must be after the anchor's own line
		if i == len(found.first) {
			continue
		}
		if ok && found.first[i] != at {
			return position{}, false
		}
		at, ok = found.first[i], true
	}
	return at, ok
}

// maxAnchorSpace limits the white space around an anchor.
const maxAnchorSpace = 4 << 10

// hunkAt plans the changed lines of a hunk that matches at a position. Each run of removed and
// added lines is a separate piece, so context lines keep their bytes.
func (p *planner) hunkAt(h *hunk, at position, e change.Edit) Outcome {
	exact := p.exactEndings(h, at)
	out := Outcome{Line: at.line}
	off := at.off
	next := func(l *hunkLine) { off, _ = p.lineIs(off, l.content()) }
	for i := 0; i < len(h.lines); {
		if h.lines[i].kind == ' ' {
			next(&h.lines[i])
			i++
			continue
		}
		start := off
		var added []*hunkLine
		for ; i < len(h.lines) && h.lines[i].kind != ' '; i++ {
			if h.lines[i].kind == '+' {
				added = append(added, &h.lines[i])
			} else {
				next(&h.lines[i])
			}
		}
		out.Count++
		p.add(start, off, p.addedText(added, start, off, exact, e.Loose), textfile.LF)
	}
	// The named span of each piece is its changed lines, so two hunks may share context but
	// not a changed line.
	return out
}

// exactEndings reports whether the hunk's old lines have the file's own line endings. If so,
// the endings of its new lines are intended.
func (p *planner) exactEndings(h *hunk, at position) bool {
	off := at.off
	for _, n := range h.old {
		l := &h.lines[n]
		end := off + len(l.content())
		next, _ := p.lineIs(off, l.content())
		if crlf := next == end+2; strings.HasSuffix(l.text, "\r") != crlf {
			return false
		}
		off = next
	}
	if len(h.old) > 0 {
		return true
	}
	return p.doc.EndingAt(0) == textfile.LF || strings.Contains(h.lines[0].text, "\r")
}

func (p *planner) addedText(added []*hunkLine, start, end int, exact, loose bool) string {
	eol := p.endingAt(min(start, max(p.doc.Len()-1, 0)))
	if len(added) == 0 {
		return ""
	}
	var b strings.Builder
	if start == end && start > 0 && p.doc.Byte(start-1) != '\n' {
		b.WriteString(eol.String()) // the last line of the file had no ending
	}
	for _, l := range added {
		switch {
		case exact:
			b.WriteString(l.text + "\n")
		default:
			b.WriteString(l.content() + eol.String())
		}
	}
	text := b.String()
	if !loose && added[len(added)-1].noEOL {
		text = strings.TrimSuffix(text, "\n")
		if !exact {
			text = strings.TrimSuffix(text, "\r")
		}
	}
	return text
}
