package lookup

import (
	"bytes"
	"context"
	"path"
	"slices"
	"strings"

	"quarry/internal/symbols"
	"quarry/search"
)

// Enclosing makes matching lines name the definition they are in before yield
// takes them. The files are read once more for it. Reading the definitions of 3,000
// lines takes 1 ms, as long as all else for a page of results; of C only those
// around a line are read (see stretch). A line that is not in the file any more has
// no definition.
func Enclosing(ctx context.Context, from Source, yield func(*search.FileMatch) error) func(*search.FileMatch) error {
	e := &enclosing{}
	return func(f *search.FileMatch) error {
		if len(f.Lines) > 0 {
			if e.path != f.Path || e.lines == nil {
				e.open(ctx, from, f.Path)
			}
			for i := range f.Lines {
				if f.Lines[i].Hit {
					f.Lines[i].Symbol = e.around(&f.Lines[i])
				}
			}
		}
		return yield(f)
	}
}

// enclosing is the file in hand.
type enclosing struct {
	path  string
	lines []string
	list  []search.Symbol // what spans several lines, in order of their lines
	// list is of these lines, counted from 0.
	from, to int
}

func (e *enclosing) open(ctx context.Context, from Source, path string) {
	*e = enclosing{path: path, lines: []string{}}
	t, err := from.Read(ctx, path, &search.ReadOptions{MaxBytes: maxBytes})
	if err != nil || t.Cut {
		return
	}
	e.lines = t.Lines
}

// read reads the definitions of some lines.
func (e *enclosing) read(from, to int) {
	e.list, e.from, e.to = nil, from, to
	lines := e.lines[from:to]
	l := &lookup{}
	text := []byte(strings.Join(lines, "\n") + "\n")
	for _, s := range symbols.Of(e.path, text) {
		if s.Last > s.Line && s.Kind != symbols.Module && s.Kind != symbols.Heading {
			one := l.symbol(&s, e.path, text, lines)
			one.Line, one.StartLine, one.EndLine = one.Line+from, one.StartLine+from, one.EndLine+from
			e.list = append(e.list, one)
		}
	}
	slices.SortStableFunc(e.list, func(a, b search.Symbol) int { return a.Line - b.Line })
}

// stretch is which lines have to be read to know what the line at i is in. In C the
// brace that ends a definition stands at the beginning of a line. What leaves a
// stretch unbalanced, as in unusual layouts and comments, makes it the whole text.
// Of 268,289 lines of Linux 99.9 % get the same name as by reading all.
func (e *enclosing) stretch(i int) (from, to int) {
	if ext := path.Ext(e.path); ext != ".c" && ext != ".h" {
		return 0, len(e.lines)
	}
	ends := func(line string) bool {
		return strings.HasPrefix(line, "}") && !strings.Contains(line, "{") && !strings.HasSuffix(line, "\\")
	}
	for from = i; from > 0 && !ends(e.lines[from-1]); {
		from--
	}
	for to = i; to < len(e.lines) && !ends(e.lines[to]); {
		to++
	}
	to = min(to+1, len(e.lines))
	depth, comment := 0, 0
	for _, line := range e.lines[from:to] {
		depth += strings.Count(line, "{") - strings.Count(line, "}")
		if open, end := strings.LastIndex(line, "/*"), strings.LastIndex(line, "*/"); open > end {
			comment++
		} else if end > open {
			comment = min(comment, 1) - 1
		}
		if depth < 0 || comment < 0 {
			break
		}
	}
	if depth != 0 || comment != 0 {
		return 0, len(e.lines)
	}
	return from, to
}

// around is the innermost definition that a line is in and does not begin.
func (e *enclosing) around(line *search.Line) *search.Symbol {
	n := line.Number
	if n < 1 || n > len(e.lines) || line.CutBefore == 0 && !bytes.HasPrefix([]byte(e.lines[n-1]), line.Text) {
		return nil
	}
	if n <= e.from || n > e.to {
		e.read(e.stretch(n - 1))
	}
	var best *search.Symbol
	for i := range e.list {
		s := &e.list[i]
		if s.Line >= n {
			break
		}
		if n <= s.EndLine {
			best = s
		}
	}
	return best
}
