package profile

import (
	"context"
	"fmt"

	"quarry/internal/render"
	"quarry/match"
)

var searchText = action{searchSchema, readOnly, searchMatches}

// searchMatches answers with a list of matching lines.
func searchMatches(ctx context.Context, c *call) (*answer, error) {
	query := c.String("query")
	limit := c.either("max_results", c.d.limits.matches, maxFiles)
	q := c.query(ctx, query, c.globs(ctx, "include", c.path(ctx, "path")))
	if err := c.respell(&q); err != nil {
		return nil, err
	}
	q.Match.Syntax = match.Literal
	if a, err := c.showOther(ctx, q, "include"); a != nil || err != nil {
		return a, err
	}
	q.Limits.Lines, q.Limits.CountTo, q.Limits.CountCheaply = limit, c.countTo(limit), c.String("count") != "exact"
	offset := q.Offset
	r, err := c.run(ctx, q)
	if err != nil {
		return nil, err
	}
	total := render.Total{N: r.LinesMatched}
	if !r.Exact {
		total = render.Total{N: min(r.LinesMatched, q.Limits.CountTo), More: true}
	}
	name := `"` + render.Name(query) + `"`
	for _, also := range q.Patterns {
		word := " or "
		if q.Each {
			word = " and "
		}
		name += word + `"` + render.Name(also) + `"`
	}
	partial := c.unfinished(&r.Summary)
	if total.N == 0 && partial != "" {
		data := newSearchAnswer(&render.Shown{}, total, 0)
		data.Receipt = c.sumUp(ctx, &r.Summary, "time")
		return &answer{text: []byte("No matches found for " + name + ".\n\n" + partial), data: data}, nil
	}
	if total.N == 0 {
		data := newSearchAnswer(&render.Shown{}, total, 0)
		data.Receipt = c.sumUp(ctx, &r.Summary, "")
		return &answer{
			text: []byte("No matches found for " + name + "."), data: data,
			receipt: c.whyEmpty(ctx, q, &r.Summary, "include"),
		}, nil
	}
	text := fmt.Appendf(nil, "Found %s %s for %s:\n", total, plural(total, "match", "matches"), name)
	text, shown := render.Matches(text, r.Files, c.limits())
	a := &answer{}
	c.last = r.Stopped == ""
	more := offset+shown.Results < total.N || total.More && !c.last
	cut := ""
	if more {
		text = fmt.Appendf(text, "\n\nShowing %s of %s matches. Narrow the query, path or include.", showing(offset, shown.Results), total)
		cut = "results"
	}
	if partial != "" {
		text, cut = append(text, "\n\n"+partial...), "time"
	}
	by := byLimit
	if shown.Results < limit {
		by = byBudget
	}
	data := newSearchAnswer(&shown, total, render.MatchLine)
	data.Receipt = c.sumUp(ctx, &r.Summary, cut)
	if more {
		data.NextOffset = offset + shown.Results
	}
	a.text, a.data, a.receipt = text, data, c.page("matches", offset, shown.Results, total, by, "max_results", more)
	c.finishSearch(a, &r.Summary, &shown)
	return a, nil
}
