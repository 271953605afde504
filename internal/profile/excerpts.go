package profile

import (
	"context"
	"fmt"

	"quarry/fault"
	"quarry/internal/render"
	"quarry/match"
	"quarry/search"
)

// maxFiles limits the files, or lines for file_search, that a caller may ask for.
const maxFiles = 1000

var searchByPattern = searching(always(excerpts))

// excerpts is the vault's form of results: files with the most matches first.
var excerpts = form{
	pattern: "pattern", filter: "file_pattern", syntax: match.ECMAScript,
	sizes:   func(l *limits) (limit, most, context int) { return l.files, maxFiles, l.context },
	find:    findExcerpts,
	results: "files", line: render.BlockLine, remark: "\n\n",
	none: func(*textSearch) string { return "No files found matching the pattern." },
	text: func(c *call, s *textSearch, r *textFound) ([]byte, render.Shown) {
		return render.Excerpts(fmt.Appendf(nil, "Found %s matching file(s):", r.total), r.files, c.d.limits.excerpts, c.limits())
	},
	cut: func(c *call, s *textSearch, p *page) string {
		return fmt.Sprintf("\n\nShowing %s of %s matching files%s", showing(p.offset, p.shown.Results), p.total, c.advice(p.by, "a more specific pattern", s.limit < maxFiles))
	},
	receipt: func(c *call, s *textSearch, r *textFound, p *page) []string {
		parts := c.page(p, p.cut != "")
		if n := hidden(r.files, &p.shown); n > 0 {
			parts = append(parts, fault.Count(n, "matching line")+" of these files not shown")
			p.cut = "excerpts"
		}
		return parts
	},
}

// findExcerpts counts all matching files first, because the order depends on the counts,
// and then reads the few that are shown.
func findExcerpts(ctx context.Context, c *call, s *textSearch) (*textFound, error) {
	q := s.Query
	if c.d.searched != "" && len(q.Globs) == 0 {
		q.Globs = []string{c.d.searched}
	}
	q.Offset = 0
	ranked, sum, err := c.mostMatches(ctx, q, s.Offset+s.limit)
	if err != nil {
		return nil, err
	}
	page := ranked[min(s.Offset, len(ranked)):]
	page = page[:min(s.limit, len(page))]
	files, err := c.read(ctx, q, page)
	return &textFound{Summary: sum, files: files, total: render.Total{N: sum.FilesMatched}, asked: len(page)}, err
}

func showing(offset, n int) string {
	if offset == 0 {
		return "the first " + itoa(n)
	}
	return first(offset, n)
}

// hidden counts the matching lines that were omitted from the shown files.
func hidden(files []search.FileMatch, shown *render.Shown) int {
	n := 0
	for i := range shown.Files {
		n += files[i].Matched - shown.Files[i].Matched
	}
	return n
}

// counted is a file with its number of matching lines.
type counted struct {
	path    string
	matched int
}

// mostMatches lists up to most files that match, those with more matches first.
func (c *call) mostMatches(ctx context.Context, q search.Query, most int) ([]counted, *search.Summary, error) {
	q.Detail, q.Spans, q.Symbols, q.Order, q.Limits.Files = search.Counts, false, false, search.ByMatches, most
	q.Before, q.After = 0, 0
	var files []counted
	sum, err := c.ws.SearchEach(ctx, q, func(f *search.FileMatch) error {
		files = append(files, counted{f.Path, f.Matched})
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	if sum.Stopped == search.StopFiles {
		sum.Stopped = "" // all files are counted
	}
	return files, sum, budgetError(sum)
}

// read searches the files of a page again to get their lines. Files that were deleted or
// no longer match are omitted.
func (c *call) read(ctx context.Context, q search.Query, page []counted) ([]search.FileMatch, error) {
	// Read only the lines to be shown, and one more to detect that there are others.
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
