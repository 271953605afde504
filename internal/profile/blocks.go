package profile

import (
	"context"
	"fmt"

	"quarry/internal/render"
	"quarry/match"
	"quarry/search"
)

var searchByRegex = searching(always(blocks))

// blocks is Roo's form of results: blocks of lines in path order.
var blocks = form{
	pattern: "regex", filter: "file_pattern", syntax: match.Rust,
	sizes:   func(l *limits) (limit, most, context int) { return l.blocks, maxBlocks, l.blockContext },
	find:    findBlocks,
	results: "results", line: render.BlockLine, remark: "\n# ",
	goesOn: "\n# The last result is cut before line %d of %s. Use a more specific search or path if necessary.",
	text: func(c *call, s *textSearch, r *textFound) ([]byte, render.Shown) {
		text := fmt.Appendf(nil, "Found %s %s.", r.total, plural(r.total, "result", "results"))
		return render.Blocks(text, r.files, s.Before+s.After+1, c.limits())
	},
	cut: func(c *call, s *textSearch, p *page) string {
		return fmt.Sprintf("\n# Showing %s of %s results. Use a more specific search or path if necessary.", first(p.offset, p.shown.Results), p.total)
	},
	receipt: func(c *call, s *textSearch, r *textFound, p *page) (parts []string) {
		if r.Exact && r.Stopped == "" && s.Structure == "" && r.LinesMatched > r.total.N { // neighboring matching lines form one result
			parts = append(parts, fmt.Sprintf("%d matching lines", r.LinesMatched))
		}
		return append(parts, c.page(p, p.cut != "")...)
	},
}

func findBlocks(ctx context.Context, c *call, s *textSearch) (*textFound, error) {
	q := s.Query
	q.Limits.Blocks, q.Limits.CountTo, q.Limits.CountCheaply = s.limit, c.countTo(s.limit), c.String("count") != "exact"
	q.Limits.BlockLines = c.o.Budget/shortLine + 1
	r, err := c.run(ctx, q)
	if err != nil {
		return nil, err
	}
	return c.counted(r, r.Blocks, &q), nil
}

// counted makes a result with an exact total, unless counting was cut short.
func (c *call) counted(r *search.Result, n int, q *search.Query) *textFound {
	total := render.Total{N: n}
	if !r.Exact {
		total = render.Total{N: min(n, q.Limits.CountTo), More: true}
	}
	return &textFound{Summary: &r.Summary, files: r.Files, total: total, asked: max(q.Limits.Blocks, q.Limits.Lines)}
}
