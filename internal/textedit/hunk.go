package textedit

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"quarry/change"
	"quarry/internal/textfile"
)

// hunk is a hunk taken apart. Lines have no line ending.
type hunk struct {
	lines []hunkLine
	old   []int // indexes of the context and removed lines
}

type hunkLine struct {
	kind  byte   // ' ', '-' or '+'
	text  string // with the \r that stands before its line ending, if any
	noEOL bool   // it is the end of its file
}

func (l *hunkLine) content() string { return strings.TrimSuffix(l.text, "\r") }

// parseHunk reads the body of a hunk.
func parseHunk(e change.Edit) (*hunk, error) {
	h := &hunk{}
	for line := range strings.Lines(e.Hunk) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "": // an empty context line whose space was lost
			h.lines = append(h.lines, hunkLine{kind: ' '})
		case line[0] == '\\':
			if len(h.lines) == 0 {
				return nil, fmt.Errorf("invalid hunk: it begins with %q", line)
			}
			h.lines[len(h.lines)-1].noEOL = true
			continue
		case strings.IndexByte(" -+", line[0]) < 0:
			return nil, fmt.Errorf("invalid hunk: the line %q begins with neither a space, - nor +", Clip(line, 80))
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

// oldText is what the hunk must find, for an error that shows what comes close.
func (h *hunk) oldText() string {
	var b strings.Builder
	for _, i := range h.old {
		b.WriteString(h.lines[i].content())
		b.WriteByte('\n')
	}
	return b.String()
}

// applyHunk finds the one place of a hunk and plans its lines.
func (p *planner) applyHunk(e change.Edit) (Outcome, error) {
	if !utf8.ValidString(e.Hunk) && p.doc.Encoding() == textfile.Windows1252 {
		e.Hunk = string(textfile.Decode1252([]byte(e.Hunk)))
	}
	h, err := parseHunk(e)
	if err != nil {
		return Outcome{}, err
	}
	if p.index == nil {
		p.index = indexOfLines(p.doc, p.text)
	}
	at, err := p.place(e, h)
	if err != nil {
		return Outcome{}, err
	}
	if e.First > 0 && len(h.old) > 0 {
		p.shift, p.shifted = at-e.First, true
	}
	return p.hunkAt(h, at, e), nil
}

// place returns the line, from 1, where the hunk's old lines begin; of a hunk
// without any, the line it comes before.
func (p *planner) place(e change.Edit, h *hunk) (int, error) {
	count := len(p.index)
	if len(h.old) == 0 {
		at := count + 1
		if e.First > 0 || !e.Loose {
			at = e.First + p.shift + 1 // "-5,0" is after line 5
		}
		if at < 1 || at > count+1 {
			return 0, &change.LineError{Line: at - 1, Count: count}
		}
		return at, nil
	}
	found := p.candidates(e, h)
	switch {
	case len(found) == 0:
		return 0, &change.NotFoundError{Old: h.oldText(), Near: Closest(p.doc, h.oldText()).Contract()}
	case len(found) == 1:
		return found[0], nil
	case e.First > 0 && slices.Contains(found, e.First+p.shift) && p.agrees(e, h):
		return e.First + p.shift, nil
	case e.Anchor != "":
		if at, ok := p.afterAnchor(e.Anchor, found); ok {
			return at, nil
		}
	}
	return 0, &change.AmbiguousError{Count: len(found), Lines: found[:min(len(found), maxRemainingLines)]}
}

// candidates are the lines where the old lines of a hunk stand.
func (p *planner) candidates(e change.Edit, h *hunk) []int {
	first := h.lines[h.old[0]].content()
	var found []int
	for _, at := range p.index.at(first) {
		if p.stands(e, h, at) {
			found = append(found, at)
		}
	}
	return found
}

// stands reports whether the old lines of a hunk stand at a line.
func (p *planner) stands(e change.Edit, h *hunk, at int) bool {
	last := at + len(h.old) - 1
	if last > len(p.index) || e.AtEnd && last != len(p.index) {
		return false
	}
	for i, n := range h.old {
		if p.index.text(at+i) != h.lines[n].content() {
			return false
		}
	}
	if e.Loose {
		return true
	}
	end := &h.lines[h.old[len(h.old)-1]]
	return end.noEOL == !p.index[last-1].ended
}

// agrees reports whether the line a hunk names can be trusted: the file is the
// very one, a hunk before or the next one that stands in one place only has not
// moved otherwise, or enough lines around it stand there.
func (p *planner) agrees(e change.Edit, h *hunk) bool {
	if e.Certain || p.shifted {
		return true
	}
	for _, later := range p.later {
		if later.Verb != change.ApplyHunk || later.First == 0 {
			continue
		}
		next, err := parseHunk(later)
		if err != nil || len(next.old) == 0 {
			continue
		}
		if found := p.candidates(later, next); len(found) == 1 {
			return found[0]-later.First == p.shift
		}
	}
	return h.wide(e.First+p.shift, len(p.index))
}

// wideContext is what diff prints around a change unless told otherwise.
const wideContext = 3

// wide reports a hunk with three lines of context on either side, or as many as
// the file has there.
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

// afterAnchor is the first of the places after the line that an anchor names. It
// is not ok if the anchor stands several times before different places.
func (p *planner) afterAnchor(anchor string, found []int) (int, bool) {
	best, ok := 0, false
	for at := range p.index {
		if strings.TrimSpace(p.index[at].content) != strings.TrimSpace(anchor) {
			continue
		}
		i, _ := slices.BinarySearch(found, at+2) // after the anchor's own line
		if i == len(found) {
			continue
		}
		if ok && found[i] != best {
			return 0, false
		}
		best, ok = found[i], true
	}
	return best, ok
}

// hunkAt plans the changed lines of a hunk that stands at a line. Each run of
// removed and added lines is a piece of its own, so context keeps its bytes.
func (p *planner) hunkAt(h *hunk, at int, e change.Edit) Outcome {
	exact := p.exactEndings(h, at)
	out := Outcome{Line: at}
	line := at
	for i := 0; i < len(h.lines); {
		if h.lines[i].kind == ' ' {
			i, line = i+1, line+1
			continue
		}
		start, end := p.index.start(line, p.text), p.index.start(line, p.text)
		var added []*hunkLine
		for ; i < len(h.lines) && h.lines[i].kind != ' '; i++ {
			if h.lines[i].kind == '+' {
				added = append(added, &h.lines[i])
				continue
			}
			end = p.index.end(line)
			line++
		}
		out.Count++
		p.add(start, end, p.addedText(added, start, end, exact, e.Loose), textfile.LF)
	}
	// The whole hunk is what the edit names: two hunks may not share a line they
	// change, but may share context.
	return out
}

// exactEndings reports whether the old lines have the file's own line endings,
// so that those of the new lines are meant.
func (p *planner) exactEndings(h *hunk, at int) bool {
	for i, n := range h.old {
		l := &h.lines[n]
		if strings.HasSuffix(l.text, "\r") != p.index[at+i-1].crlf {
			return false
		}
	}
	if len(h.old) > 0 {
		return true
	}
	return textfile.EndingAt(p.text, 0) == textfile.LF || strings.Contains(h.lines[0].text, "\r")
}

func (p *planner) addedText(added []*hunkLine, start, end int, exact, loose bool) string {
	eol := p.endingAt(min(start, max(len(p.text)-1, 0)))
	if len(added) == 0 {
		return ""
	}
	var b strings.Builder
	if start == end && start > 0 && p.text[start-1] != '\n' {
		b.WriteString(eol.String()) // after a last line without ending
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

// lineIndex has the lines of a text, to look for runs of them.
type lineIndex []indexedLine

type indexedLine struct {
	content    string
	start, end int
	ended      bool // it has a line ending
	crlf       bool
}

func indexOfLines(d *textfile.Document, text []byte) lineIndex {
	x := make(lineIndex, 0, d.Lines().Count())
	for _, l := range d.Lines().From(1) {
		x = append(x, indexedLine{
			content: string(text[l.Start:l.Content]), start: l.Start, end: l.End,
			ended: l.End > l.Content && text[l.End-1] == '\n',
			crlf:  bytes.HasSuffix(text[l.Start:l.End], []byte("\r\n")),
		})
	}
	return x
}

func (x lineIndex) text(line int) string { return x[line-1].content }

// at are the lines with a content.
func (x lineIndex) at(content string) []int {
	var found []int
	for i := range x {
		if x[i].content == content {
			found = append(found, i+1)
		}
	}
	return found
}

// start is the offset where a line begins; one after the last is at the end.
func (x lineIndex) start(line int, text []byte) int {
	if line > len(x) {
		return len(text)
	}
	return x[line-1].start
}

func (x lineIndex) end(line int) int { return x[line-1].end }
