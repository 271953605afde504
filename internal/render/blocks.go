package render

import (
	"cmp"
	"strconv"

	"quarry/search"
)

// Shown is the part of a search result that fits in an answer.
type Shown struct {
	// Files are the shown files, with only the shown lines.
	Files []search.FileMatch
	// Results counts the blocks, files or lines shown, depending on the form of the text.
	Results int
	// CutPath and CutLine are set if the last result is incomplete. They say where it
	// continues.
	CutPath string
	CutLine int
}

// Limits limit a text.
type Limits struct {
	Budget int // bytes of the whole text; 0 means no limit
	Line   int // characters of one line
}

// Full reports whether a text of n bytes is too long.
func (l Limits) Full(n int) bool { return l.Budget > 0 && n > l.Budget }

// BlockLine is the default maximal length of a line in a block.
const BlockLine = 500

// Blocks appends matches in Roo's form: files as "# path", and blocks of numbered lines
// between "----". gap is the largest distance, in lines, between consecutive matches of a
// block.
func Blocks(dst []byte, files []search.FileMatch, gap int, lim Limits) ([]byte, Shown) {
	var shown Shown
	lim.Line = cmp.Or(lim.Line, BlockLine)
	for i := range files {
		f := &files[i]
		at, around := 0, ""
		for at < len(f.Lines) {
			mark, end := len(dst), blockEnd(f.Lines, at, gap)
			if at == 0 {
				dst = append(dst, "\n\n# "...)
				dst = AppendPath(dst, f.Path)
			}
			dst, around = appendAround(dst, f.Lines[at:end], around)
			var fit int
			dst, fit = appendBlock(dst, f.Lines[at:end], lim)
			if fit < end-at && shown.Results > 0 {
				// Omit the block: the next answer contains it completely.
				return dst[:mark], shown
			}
			shown.add(f, at, at+fit)
			shown.Results++
			dst = append(dst, "\n----"...)
			if fit < end-at {
				shown.CutPath, shown.CutLine = f.Path, f.Lines[at+fit].Number
				return dst, shown
			}
			at = end
		}
	}
	return dst, shown
}

// Around returns the name of the definition that contains a matching line, qualified by
// its container, or "".
func Around(l *search.Line) string {
	switch s := l.Symbol; {
	case s == nil:
		return ""
	case s.Container != "":
		return s.Container + "." + s.Name
	default:
		return s.Name
	}
}

// appendAround appends "@@ name" before lines whose first match is in a definition, unless
// the lines show the name or the previous lines were in the same definition. In searches
// for 30 names this added 2.5 % to the text.
func appendAround(dst []byte, lines []search.Line, before string) ([]byte, string) {
	for i := range lines {
		if !lines[i].Hit {
			continue
		}
		name := Around(&lines[i])
		if name == "" || name == before || lines[i].Symbol.Line >= lines[0].Number {
			return dst, name
		}
		dst = append(dst, "\n@@ "...)
		return AppendName(dst, name), name
	}
	return dst, before
}

// add records that lines from to to of f are shown.
func (s *Shown) add(f *search.FileMatch, from, to int) {
	if n := len(s.Files); n > 0 && s.Files[n-1].Path == f.Path {
		last := &s.Files[n-1]
		last.Lines = f.Lines[:to]
		last.Matched = hits(last.Lines)
		return
	}
	part := *f
	part.Lines = f.Lines[from:to]
	part.Matched = hits(part.Lines)
	s.Files = append(s.Files, part)
}

func hits(lines []search.Line) int {
	n := 0
	for i := range lines {
		if lines[i].Hit {
			n++
		}
	}
	return n
}

// blockEnd returns the end of the block that begins at line at.
func blockEnd(lines []search.Line, at, gap int) int {
	last := 0
	for i := at; i < len(lines); i++ {
		l := &lines[i]
		if i > at && l.Number != lines[i-1].Number+1 {
			return i // lines are missing in between, so the contexts don't touch
		}
		if !l.Hit {
			continue
		}
		if last > 0 && l.Number-last > gap {
			return i
		}
		last = l.Number
	}
	return len(lines)
}

// appendBlock appends as many lines of a block as fit, and returns their number.
func appendBlock(dst []byte, lines []search.Line, lim Limits) ([]byte, int) {
	for i := range lines {
		mark := len(dst)
		dst = appendBlockLine(dst, &lines[i], lim.Line)
		if lim.Full(len(dst)) {
			return dst[:mark], i
		}
	}
	return dst, len(lines)
}

func appendBlockLine(dst []byte, l *search.Line, most int) []byte {
	dst = append(dst, '\n')
	digits := strconv.Itoa(l.Number)
	for range 3 - len(digits) {
		dst = append(dst, ' ')
	}
	dst = append(dst, digits...)
	dst = append(dst, " |"...)
	w := cut(l, trimRight(l.Text), most)
	if len(w.text) == 0 {
		return dst
	}
	dst = append(dst, ' ')
	if w.before {
		dst = append(dst, "... "...)
	}
	dst = append(dst, w.text...)
	if w.before || w.after {
		dst = append(dst, " [truncated...]"...)
	}
	return dst
}
