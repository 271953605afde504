package render

import (
	"bytes"
	"cmp"
	"strconv"
	"unicode"

	"quarry/search"
)

// Excerpts appends matches in the vault's form: files as "## path", and excerpts of
// numbered lines with ">" at matching ones. Consecutive lines form one excerpt. Each file
// has no more than most excerpts.
func Excerpts(dst []byte, files []search.FileMatch, most int, lim Limits) ([]byte, Shown) {
	var shown Shown
	lim.Line = cmp.Or(lim.Line, BlockLine)
	for i := range files {
		f := &files[i]
		mark := len(dst)
		dst = append(dst, "\n\n## "...)
		dst = AppendPath(dst, f.Path)
		at, around := 0, ""
		for n := 0; n < most && at < len(f.Lines); n++ {
			if n > 0 {
				dst = append(dst, '\n')
			}
			end := runEnd(f.Lines, at)
			dst, around = appendAround(dst, f.Lines[at:end], around)
			for ; at < end; at++ {
				size := len(dst)
				dst = appendExcerptLine(dst, &f.Lines[at], lim.Line)
				if !lim.Full(len(dst)) {
					continue
				}
				if shown.Results > 0 {
					return dst[:mark], shown
				}
				shown.add(f, 0, at)
				shown.Results++
				shown.CutPath, shown.CutLine = f.Path, f.Lines[at].Number
				return dst[:size], shown
			}
		}
		shown.add(f, 0, at)
		shown.Results++
	}
	return dst, shown
}

// runEnd returns the end of the run of consecutive lines that begins at index at.
func runEnd(lines []search.Line, at int) int {
	for at++; at < len(lines) && lines[at].Number == lines[at-1].Number+1; at++ {
	}
	return at
}

func appendExcerptLine(dst []byte, l *search.Line, most int) []byte {
	dst = append(dst, "\nLine "...)
	dst = strconv.AppendInt(dst, int64(l.Number), 10)
	if l.Hit {
		dst = append(dst, ": > "...)
	} else {
		dst = append(dst, ":   "...)
	}
	return appendWindow(dst, cut(l, l.Text, most))
}

// appendWindow appends a part of a line, with dots where text is omitted.
func appendWindow(dst []byte, w window) []byte {
	if w.before {
		dst = append(dst, "..."...)
	}
	dst = append(dst, w.text...)
	if w.after {
		dst = append(dst, "..."...)
	}
	return dst
}

// MatchLine is the maximum length of a matching line in a list.
const MatchLine = 200

// Matches appends matching lines as a list: - `path:12`: text.
func Matches(dst []byte, files []search.FileMatch, lim Limits) ([]byte, Shown) {
	var shown Shown
	lim.Line = cmp.Or(lim.Line, MatchLine)
	for i := range files {
		f := &files[i]
		for j := range f.Lines {
			mark := len(dst)
			dst = append(dst, "\n- `"...)
			dst = AppendPath(dst, f.Path)
			dst = append(dst, ':')
			dst = strconv.AppendInt(dst, int64(f.Lines[j].Number), 10)
			dst = append(dst, "`: "...)
			dst = appendWindow(dst, cut(trimmed(&f.Lines[j]), bytes.TrimSpace(f.Lines[j].Text), lim.Line))
			if lim.Full(len(dst)) {
				return dst[:mark], shown
			}
			shown.add(f, 0, j+1)
			shown.Results++
		}
	}
	return dst, shown
}

// trimmed returns a line without leading white space. Its spans are adjusted.
func trimmed(l *search.Line) *search.Line {
	n := len(l.Text) - len(bytes.TrimLeftFunc(l.Text, unicode.IsSpace))
	if n == 0 || len(l.Spans) == 0 {
		return l
	}
	t := *l
	s := l.Spans[0]
	t.Spans = []search.Span{{Start: max(s.Start-n, 0), End: max(s.End-n, 0)}}
	return &t
}
