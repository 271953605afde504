package textedit

import (
	"strings"
	"unicode/utf8"

	"quarry/change"
	"quarry/internal/splice"
	"quarry/internal/textfile"
)

// planner collects the pieces of all edits of one change.
type planner struct {
	doc    *textfile.Text
	name   string // the file's name, which determines the meaning of white space
	edit   int
	pieces []piece
	every  []*everywhere // edits with too many pieces to store

	// For hunks: shift is the distance in lines of the last hunk from its line number,
	// shifted is set if there was one, and later has the edits that follow.
	shift   int
	shifted bool
	after   int // the line after the last hunk's old lines
	later   []change.Edit
	alone   map[int]position // places of later hunks; line 0 means that the place is not unique
	next    int              // the first later hunk not yet in alone

	lineTable *lineTable // built for many hunks; nil otherwise
	compared  int        // comparisons of hunk lines with lines of the file
	ambiguous int        // number of hunks with several places so far
	effort    *Effort
	spaced    *spaced // the file's lines, built when other white space is first considered

	valued map[int][]splice.Splice // splices of edits that change values, by index of the edit

	size, limit int64 // size of the new file as planned so far, and its limit, in bytes of decoded text
	eol         endings
}

// endings determines the line ending at offsets of a text. A result is cached for all offsets
// up to the newline found, or up to the end. Otherwise replacing all matches in one huge line
// would search for its end once per match.
type endings struct {
	from, to int
	eol      textfile.Ending
}

func (n *endings) at(t *textfile.Text, off int) textfile.Ending {
	if off < n.from || off >= n.to {
		n.from, n.to = off, t.Len()+1
		if i := t.Index(off, []byte{'\n'}); i >= 0 {
			n.to = i + 1
		}
		n.eol = t.EndingAt(off)
	}
	return n.eol
}

func (p *planner) endingAt(off int) textfile.Ending { return p.eol.at(p.doc, off) }

// maxNears limits how many missing texts are explained. Finding the closest text takes longer
// than an edit, and a thousand explanations are not readable.
const maxNears = 20

// Effort limits the explanations for all files of a set. The zero value is ready to use.
type Effort struct {
	nears   int
	scanned int // bytes of text searched, plus aligned for each explanation
}

// An alignment takes as long as searching 2 MB. maxScanned takes about a second.
const aligned, maxScanned = 2 << 20, 100 << 20

// closest returns the closest text to a missing one, if the effort allows.
func (p *planner) closest(old string) *change.Near {
	e := p.effort
	if e.nears++; e.nears > maxNears || e.scanned > maxScanned {
		return nil
	}
	e.scanned += aligned + min(p.doc.Len(), nearScan)
	return Closest(p.doc, old).Contract()
}

// grow adds to the planned size of the new file.
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

// maxRemainingLines limits the list of lines with further occurrences. The number of
// occurrences is always exact.
const maxRemainingLines = 20

// plan finds the text that an edit names, and adds the pieces that change it.
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
	case change.SetValue, change.DeleteValue, change.RenameKey:
		return p.changeValue(e)
	}
	return Outcome{}, invalid("unknown edit %d", e.Verb)
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
	line, ok := p.doc.Line(n)
	if !ok {
		return line, &change.LineError{Line: n, Count: p.doc.LineCount()}
	}
	return line, nil
}

// lines returns the lines e.First to e.Last, inclusive.
func (p *planner) lines(e change.Edit) (first, last textfile.Line, err error) {
	if e.First > e.Last {
		return first, last, invalid("invalid line range %d-%d: the first is after the last", e.First, e.Last)
	}
	if first, err = p.line(e.First); err != nil {
		return first, last, err
	}
	last, err = p.line(e.Last)
	return first, last, err
}

// insert adds text on separate lines at offset at, which follows the line after.
func (p *planner) insert(at, after int, text string) Outcome {
	body := strings.TrimSuffix(textfile.LF.Convert(text), "\n")
	eol := p.doc.EndingBefore(at)
	count := strings.Count(body, "\n") + 1
	glue := at > 0 && p.doc.Byte(at-1) != '\n'
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

// replaceLines replaces whole lines. If they include the last line of the file, its line
// break, or the lack of one, is kept.
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
	if e.Start < 0 || e.End < e.Start || e.End > p.doc.Len() {
		return Outcome{}, invalid("span %d-%d does not lie in a text of %d bytes", e.Start, e.End, p.doc.Len())
	}
	for _, off := range [2]int{e.Start, e.End} {
		if off < p.doc.Len() && !utf8.RuneStart(p.doc.Byte(off)) {
			return Outcome{}, invalid("offset %d is inside a character", off)
		}
	}
	eol, text := p.endingAt(e.Start), e.New
	if !e.Verbatim {
		text = eol.Convert(text)
	}
	p.add(e.Start, e.End, text, eol)
	return Outcome{Count: 1, Line: p.doc.LineAt(e.Start)}, nil
}
