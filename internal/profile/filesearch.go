package profile

import (
	"context"
	"fmt"

	"quarry/internal/render"
	"quarry/match"
	"quarry/search"
	"quarry/tool"
)

// fileMatches is where file_search stops.
const fileMatches = 50

func fileSearch(e *env) *tool.Tool {
	return e.make(tool.Tool{
		Name: "file_search", Title: e.words("Search text", "Search Project Content"),
		Description: e.words("Search file text for a plain string.",
			"Perform a recursive text search throughout the project directory. "+
				"Use this to find strings in READMEs, Dockerfiles, configurations, or other non-Go source files."),
		Params: join([]tool.Param{
			e.one(need(str("query", e.words("Text to find", "The text string to search for")))),
			str("path", e.words("File or folder to search", "The directory to search in (default: project root)")),
			{Name: "ignore_case", Kind: tool.Boolean, Default: true, Description: e.words("In any letter case", "Whether to perform a case-insensitive search (default: true)")},
			str("include", e.words("Glob of files: *.md", "Optional glob pattern to restrict files (e.g. '*.md')")),
		}, e.optional(integer("max_results", "Maximum number of matches; default 50", 1), paramAlso, paramAll, paramChanged, paramHidden, paramIgnored, paramOffset, paramCount)),
		OutputSchema: schema(searchSchema), Hints: readOnly,
	}, searchMatches)
}

// searchMatches answers with a list of matching lines.
func searchMatches(ctx context.Context, c *call) (*answer, error) {
	query := c.String("query")
	limit := c.either("max_results", fileMatches, maxFiles)
	q := c.query(ctx, query, c.glob("include", c.path(ctx, "path")))
	q.Match.Syntax = match.Literal
	if c.is("godoctor") {
		// Its document skips .git and what .gitignore names, nothing else. The index
		// goes by every kind of ignore file, so this search reads the files.
		q.IncludeHidden = true
		q.Without = search.RuleFiles{Dot: true, Exclude: true, Global: true}
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
			receipt: c.zeroIfUnion(ctx, q, &r.Summary, "include"),
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
