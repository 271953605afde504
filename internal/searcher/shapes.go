package searcher

import (
	"context"

	"quarry/fault"
	"quarry/internal/scan"
	"quarry/internal/structure"
	"quarry/match"
	"quarry/search"
)

// shapes finds structural matches in a text. It is nil for a search by patterns.
type shapes func(path string, text []byte) ([]scan.Shape, bool)

// newShapes prepares a structural search. It makes the query search for files that
// contain all the words that occur in every match. In these files the scanner calls the
// returned function for the matches.
func newShapes(ctx context.Context, q *search.Query) (shapes, error) {
	if q.Structure == "" {
		return nil, nil
	}
	if q.Invert || q.FilesWithoutMatch || q.AllFiles || q.Passthru || len(q.Lacking) > 0 {
		return nil, errShapes
	}
	var sign rune
	for _, sign = range q.Hole {
		break
	}
	p, err := structure.Compile(q.Structure, sign)
	if err != nil {
		return nil, err
	}
	q.Pattern, q.Patterns, q.Each = "", p.Needs(), true
	q.Match = match.Options{Syntax: match.Literal, Mode: match.Multiline}
	stop := func() bool { return ctx.Err() != nil }
	return func(path string, text []byte) ([]scan.Shape, bool) {
		code := structure.NewText(stop, path, text)
		if code == nil {
			return nil, false
		}
		found, complete := p.Find(code)
		list := make([]scan.Shape, len(found))
		for i, m := range found {
			list[i] = scan.Shape{Span: search.Span{Start: m.Start, End: m.End}, Doubt: string(m.Doubt)}
			for _, h := range m.Holes {
				list[i].Holes = append(list[i].Holes, search.Hole{Name: h.Name, Span: search.Span{Start: h.Start, End: h.End}})
			}
		}
		return list, complete
	}, nil
}

var errShapes = fault.New(fault.InvalidArgument, "a structure can't be searched for together with lines or files that don't match, or with words that a file lacks",
	"search for the structure alone")
