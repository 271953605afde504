package profile

import (
	"context"
	"fmt"
	"strings"

	"quarry/internal/render"
	"quarry/search"
)

// searchByLines is search_files with short answers.
var searchByLines = action{searchSchema, readOnly, searchLines}

// maxLines is how many matching lines one answer looks at unless more are asked
// for; the budget is smaller.
const maxLines = 400

// searchLines answers with the number of matches, and the matching lines by file,
// each definition around them named once.
func searchLines(ctx context.Context, c *call) (*answer, error) {
	limit := c.either("max_results", maxLines, maxBlocks)
	q := c.query(ctx, c.String("pattern"), c.glob("glob", c.path(ctx, "path")))
	if err := c.respell(&q); err != nil {
		return nil, err
	}
	if a, err := c.showOther(ctx, q, "glob"); a != nil || err != nil {
		return a, err
	}
	q.Before = c.either("context_lines", 0, maxContext)
	q.After = q.Before
	q.Limits.Lines, q.Limits.CountTo, q.Limits.CountCheaply = limit, c.countTo(limit), true
	q.Symbols, q.CountMatches = c.d.around, true
	offset := q.Offset
	r, err := c.run(ctx, q)
	if err != nil {
		return nil, err
	}
	total := render.Total{N: r.LinesMatched, More: !r.Exact}
	if r.LinesMatched == 0 {
		data := newSearchAnswer(&render.Shown{}, total, 0)
		a := &answer{text: []byte("No matches."), data: data}
		if partial := c.unfinished(&r.Summary); partial != "" {
			data.Receipt = c.sumUp(ctx, &r.Summary, "time")
			a.text = append(a.text, "\n\n"+partial...)
			return a, nil
		}
		data.Receipt = c.sumUp(ctx, &r.Summary, "")
		a.receipt = c.whyEmpty(ctx, q, &r.Summary, "glob")
		return a, nil
	}
	text := []byte(matchCount(&r.Summary))
	text, shown := linesText(text, r.Files, c.limits())
	a := &answer{text: text}
	cut := ""
	if next := offset + shown.Results; next < total.N || total.More && r.Stopped != "" {
		cut = "results"
		a.receipt = append(a.receipt, fmt.Sprintf("lines %d-%d; narrow it, show: \"files\", or offset %d", offset+1, next, next))
	}
	if partial := c.unfinished(&r.Summary); partial != "" {
		a.text, cut = append(a.text, "\n\n"+partial...), "time"
	}
	data := newSearchAnswer(&shown, total, render.BlockLine)
	data.Receipt = c.sumUp(ctx, &r.Summary, cut)
	if cut == "results" {
		data.NextOffset = offset + shown.Results
	}
	a.data = data
	if r.Stopped == "" {
		if skip := c.skipped(&r.Summary); skip != "" {
			a.receipt = append(a.receipt, skip)
		}
	}
	return a, nil
}

// linesText appends matching lines by file: the path, then "12: text", context as
// "13- text", and "@@ Name" before the first line in another definition. Results
// of what is shown are matching lines.
func linesText(dst []byte, files []search.FileMatch, lim render.Limits) ([]byte, render.Shown) {
	var shown render.Shown
	for i := range files {
		f := &files[i]
		part := search.FileMatch{Path: f.Path}
		around, last := "", 0
		for j := range f.Lines {
			l := &f.Lines[j]
			mark := len(dst)
			if j == 0 {
				dst = append(append(dst, "\n\n# "...), render.Path(f.Path)...)
			} else if len(f.Lines) > j && l.Number > last+1 && !l.Hit {
				dst = append(dst, "\n--"...)
			}
			if name := render.Around(l); l.Hit && name != around {
				if around = name; name != "" && l.Symbol.Line != l.Number {
					dst = append(append(dst, "\n@@ "...), render.Name(name)...)
				}
			}
			text, before, after := render.Window(l, render.BlockLine)
			colon, line := ": ", strings.TrimRight(strings.ToValidUTF8(string(text), "\uFFFD"), " \t\r")
			if !l.Hit {
				colon = "- "
			}
			if before > 0 {
				line = "..." + line
			}
			if after > 0 {
				line += "..."
			}
			dst = fmt.Appendf(dst, "\n%d%s%s", l.Number, colon, line)
			if lim.Full(len(dst)) && shown.Results > 0 {
				if len(part.Lines) > 0 {
					shown.Files = append(shown.Files, part)
				}
				return dst[:mark], shown
			}
			last = l.Number
			part.Lines = append(part.Lines, *l)
			if l.Hit {
				part.Matched++
				shown.Results++
			}
		}
		shown.Files = append(shown.Files, part)
	}
	return dst, shown
}
