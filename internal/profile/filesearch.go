package profile

import (
	"context"
	"fmt"

	"quarry/internal/render"
	"quarry/match"
)

var searchText = searching(always(form{
	pattern: "query", filter: "include", syntax: match.Literal,
	sizes:   func(l *limits) (limit, most, context int) { return l.matches, maxFiles, 0 },
	find:    findMatches,
	results: "matches", line: render.MatchLine, remark: "\n\n",
	none: func(s *textSearch) string { return "No matches found for " + s.names() + "." },
	text: func(c *call, s *textSearch, r *textFound) ([]byte, render.Shown) {
		text := fmt.Appendf(nil, "Found %s %s for %s:\n", r.total, plural(r.total, "match", "matches"), s.names())
		return render.Matches(text, r.files, c.limits())
	},
	cut: func(c *call, s *textSearch, p *page) string {
		return fmt.Sprintf("\n\nShowing %s of %s matches. Narrow the query, path or include.", showing(p.offset, p.shown.Results), p.total)
	},
	receipt: func(c *call, s *textSearch, r *textFound, p *page) []string { return c.page(p, p.cut != "") },
}))

func findMatches(ctx context.Context, c *call, s *textSearch) (*textFound, error) {
	q := s.Query
	q.Before, q.After, q.Symbols = 0, 0, false
	q.Limits.Lines, q.Limits.CountTo, q.Limits.CountCheaply = s.limit, c.countTo(s.limit), c.String("count") != "exact"
	r, err := c.run(ctx, q)
	if err != nil {
		return nil, err
	}
	return c.counted(r, r.LinesMatched, &q), nil
}

// names joins the searched texts for a message.
func (s *textSearch) names() string {
	name := `"` + render.Name(s.Pattern) + `"`
	for _, also := range s.Patterns {
		word := " or "
		if s.Each {
			word = " and "
		}
		name += word + `"` + render.Name(also) + `"`
	}
	return name
}
