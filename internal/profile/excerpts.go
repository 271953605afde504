package profile

import (
	"context"
	"fmt"

	"quarry/fault"
	"quarry/internal/render"
	"quarry/match"
	"quarry/search"
)

// maxFiles is how many files, or lines of file_search, a caller may ask for.
const maxFiles = 1000

var searchByPattern = action{searchSchema, readOnly, searchExcerpts}

// searchExcerpts answers in the vault's form. The order depends on all matching
// files, so they are counted first, and then the few that are shown are read.
func searchExcerpts(ctx context.Context, c *call) (*answer, error) {
	q := c.query(ctx, c.String("pattern"), c.globs(ctx, "file_pattern", c.path(ctx, "path")))
	q.Match.Syntax = match.ECMAScript
	if c.d.searched != "" && len(q.Globs) == 0 {
		q.Globs = []string{c.d.searched}
	}
	if err := c.respell(&q); err != nil {
		return nil, err
	}
	if a, err := c.showOther(ctx, q, "file_pattern"); a != nil || err != nil {
		return a, err
	}
	offset := q.Offset
	q.Offset = 0
	limit := c.either("max_results", c.d.limits.files, maxFiles)
	ranked, sum, err := c.mostMatches(ctx, q, offset+limit)
	if err != nil {
		return nil, err
	}
	total := render.Total{N: sum.FilesMatched}
	partial := c.unfinished(sum)
	if total.N == 0 && partial != "" {
		data := newSearchAnswer(&render.Shown{}, total, 0)
		data.Receipt = c.sumUp(ctx, sum, "time")
		return &answer{text: []byte("No files found matching the pattern.\n\n" + partial), data: data}, nil
	}
	if total.N == 0 {
		data := newSearchAnswer(&render.Shown{}, total, 0)
		data.Receipt = c.sumUp(ctx, sum, "")
		return &answer{
			text: []byte("No files found matching the pattern."), data: data,
			receipt: c.whyEmpty(ctx, q, sum, "file_pattern"),
		}, nil
	}
	page := ranked[min(offset, len(ranked)):]
	page = page[:min(limit, len(page))]
	files, err := c.read(ctx, q, page)
	if err != nil {
		return nil, err
	}
	text := fmt.Appendf(nil, "Found %s matching file(s):", total)
	text, shown := render.Excerpts(text, files, c.d.limits.excerpts, c.limits())
	cut, by := "", byLimit
	if shown.Results < len(page) {
		by = byBudget
	}
	if offset+shown.Results < total.N {
		text = fmt.Appendf(text, "\n\nShowing %s of %s matching files%s", showing(offset, shown.Results), total, c.advice(by, "a more specific pattern", limit < maxFiles))
		cut = "files"
	}
	if partial != "" {
		text, cut = append(text, "\n\n"+partial...), "time"
	}
	data := newSearchAnswer(&shown, total, render.BlockLine)
	a := &answer{text: text, data: data, receipt: c.page("files", offset, shown.Results, total, by, "max_results", cut != "")}
	if n := hidden(files, &shown); n > 0 {
		a.receipt = append(a.receipt, fault.Count(n, "matching line")+" of these files not shown")
		cut = "excerpts"
	}
	if shown.CutPath != "" {
		cut = "bytes"
	}
	data.Receipt = c.sumUp(ctx, sum, cut)
	if offset+shown.Results < total.N {
		data.NextOffset = offset + shown.Results
	}
	c.finishSearch(a, sum, &shown)
	return a, nil
}

func showing(offset, n int) string {
	if offset == 0 {
		return "the first " + itoa(n)
	}
	return first(offset, n)
}

// hidden counts the matching lines of shown files that are not shown
// themselves.
func hidden(files []search.FileMatch, shown *render.Shown) int {
	n := 0
	for i := range shown.Files {
		n += files[i].Matched - shown.Files[i].Matched
	}
	return n
}

// counted is a file and how many lines of it match.
type counted struct {
	path    string
	matched int
}

// mostMatches lists so many of the files that match, those with more matches first.
func (c *call) mostMatches(ctx context.Context, q search.Query, most int) ([]counted, *search.Summary, error) {
	q.Detail, q.Spans, q.Order, q.Limits.Files = search.Counts, false, search.ByMatches, most
	var files []counted
	sum, err := c.ws.SearchEach(ctx, q, func(f *search.FileMatch) error {
		files = append(files, counted{f.Path, f.Matched})
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	if sum.Stopped == search.StopFiles {
		sum.Stopped = "" // all are counted
	}
	return files, sum, spent(sum)
}

// read searches the files of a page again, now with their lines. A file that is
// gone or doesn't match any more is omitted.
func (c *call) read(ctx context.Context, q search.Query, page []counted) ([]search.FileMatch, error) {
	q.Before = c.either("context_lines", c.d.limits.context, maxContext)
	q.Symbols = c.d.around
	q.After = q.Before
	// The rest of a file is only counted; one more shows that there is a rest.
	q.Limits.Blocks, q.Limits.BlockLines = c.d.limits.excerpts+1, c.o.Budget/shortLine+1
	var files []search.FileMatch
	for _, f := range page {
		q.Paths = []string{f.path}
		r, err := c.run(ctx, q)
		if err != nil && fault.CodeOf(err) == fault.NotFound {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, found := range r.Files {
			found.Matched = max(found.Matched, f.matched)
			files = append(files, found)
		}
	}
	return files, nil
}
