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
	name   string // of the file, which determines the meaning of white space
	edit   int
	pieces []piece
	every  []*everywhere // edits with too many pieces to keep

	// For hunks: the distance of the last one from the line it named, whether there was
	// one, and the edits that follow.
	shift   int
	shifted bool
	after   int // the line after the last hunk's old lines
	later   []change.Edit
	alone   map[int]standing // for later hunks: their place if it is unique; otherwise line 0
	next    int              // the first later hunk not yet in alone

	lineTable *lineTable // of many hunks
	compared  int        // lines of hunks with lines of the file
	ambiguous int        // hunks with several places so far
	effort    *Effort
	spaced    *spaced // the lines of the file, once other white space is looked for

	valued map[int][]splice.Splice // for edits of values by path, by their number

	size, limit int64 // of the new file, as far as it is planned, in bytes of text
	eol         endings
}

// endings determines the line ending at offsets of a text. An answer holds from the queried
// offset to the newline found, or to the end. Without this cache, replacing all matches in
// one huge line would search for its end once per match.
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

// maxNears bounds the number of explained missing texts: finding the closest text takes longer than the edit,
// and a thousand explanations help no reader.
const maxNears = 20

// Effort bounds the explanations of all files of a set. The zero value is ready.
type Effort struct {
	nears   int
	scanned int // bytes of text, and aligned for each explanation
}

// An alignment takes as long as a search through 2 MB; 100 MB take about a second.
const aligned, maxScanned = 2 << 20, 100 << 20

// closest returns the closest match of a missing text.
func (p *planner) closest(old string) *change.Near {
	e := p.effort
	if e.nears++; e.nears > maxNears || e.scanned > maxScanned {
		return nil
	}
	e.scanned += aligned + min(p.doc.Len(), nearScan)
	return Closest(p.doc, old).Contract()
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

// maxRemainingLines bounds the list of lines with further occurrences; their number is
// always exact.
const maxRemainingLines = 20

// plan finds the text that an edit names and adds the pieces that change it.
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

// lines finds the lines from first to last, inclusive.
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

// insert adds text on lines of its own at the offset, which is after a line.
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

// replaceLines replaces lines by others. The last line of the file keeps its line break, or
// the lack of one.
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
