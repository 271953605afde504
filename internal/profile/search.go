package profile

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"quarry"
	"quarry/fault"
	"quarry/internal/pcre"
	"quarry/internal/render"
	"quarry/match"
	"quarry/search"
	"quarry/tool"
)

const (
	// countFactor is how far results are counted beyond the cap.
	countFactor = 20
	// longLine is how many bytes of a line are kept around the match. It is
	// more than any answer shows.
	longLine = 4 << 10
	// shortLine is the least that a line takes of an answer: "  1 |".
	shortLine = 6
)

var readOnly = tool.Hints{ReadOnly: true, Idempotent: true}

var searchByRegex = action{searchSchema, readOnly, searchBlocks}

var searchByEither = action{searchSchema, readOnly, searchEither}

// searchEither answers in the form of the syntax that is given: regex in Roo's,
// pattern in the vault's.
func searchEither(ctx context.Context, c *call) (*answer, error) {
	switch regex, pattern := c.String("regex") != "", c.String("pattern") != ""; {
	case c.String("structure") != "" && (regex || pattern):
		return nil, &tool.Error{
			Code: fault.InvalidArgument, Message: "structure can't be used together with regex or pattern.",
			Hint: "Give one of them.",
		}
	case c.String("structure") != "":
		return searchBlocks(ctx, c)
	case regex && pattern:
		return nil, &tool.Error{
			Code: fault.InvalidArgument, Message: "regex and pattern can't be used together.",
			Hint: "Give regex for Rust syntax, or pattern for JavaScript syntax.",
		}
	case pattern:
		return searchExcerpts(ctx, c)
	case regex:
		return searchBlocks(ctx, c)
	}
	return nil, &tool.Error{
		Code: fault.InvalidArgument, Message: "regex or pattern is required and must be a non-empty string.",
		Hint: "Give regex for Rust syntax, or pattern for JavaScript syntax.",
	}
}

// where is the scope of a search: that of the dialect, with what the caller
// widens, below some paths.
func (c *call) where(paths ...string) search.Scope {
	s := c.d.scope
	s.Paths = paths
	s.IncludeHidden = s.IncludeHidden || c.Bool("include_hidden")
	s.IncludeIgnored = s.IncludeIgnored || c.Bool("include_ignored")
	return s
}

// query is what the text searches share.
func (c *call) query(ctx context.Context, pattern string, globs []string) search.Query {
	q := search.Query{
		Pattern: pattern, Spans: true, Offset: c.Int("offset"),
		Scope:    c.where(c.file(ctx, "path")),
		Limits:   search.Limits{LineBytes: longLine, Time: c.o.Time},
		Patterns: c.Strings("also"), Each: c.Bool("all"), Lacking: c.Strings("lacking"),
	}
	q.Changed.Git = c.Bool("changed")
	if len(globs) > 0 { // else those of the dialect
		q.Globs = globs
	}
	if c.Bool("ignore_case") {
		q.Match.Case = match.Insensitive
	}
	c.readAsPCRE(&q)
	return q
}

// readAsPCRE reads a pattern with look-around or a backreference, which Rust's syntax
// doesn't have, as PCRE2 does: agents ask for calls that are not of the usual form,
// where a shell has | grep -v.
func (c *call) readAsPCRE(q *search.Query) {
	if !c.d.terse || q.Match.Syntax != match.Rust {
		return
	}
	all := append([]string{q.Pattern}, q.Patterns...)
	wanted := len(all)
	all = append(all, q.Lacking...) // one syntax reads them all
	_, err := match.CompileAny(all, q.Match)
	if refused, ok := errors.AsType[*match.Error](err); !ok || !refused.ECMAScript {
		return
	}
	fold := q.Match.Case == match.Insensitive
	for i, p := range all {
		made, err := pcre.Translate(p, fold, false, q.Match.Mode == match.Lines)
		grouped := made.Nested && strings.Contains(c.String("replacement"), "$")
		if err != nil || grouped || made.Refers && i < wanted && wanted > 1 {
			return // Rust's error says what is not supported
		}
		all[i] = made.JavaScript
	}
	q.Pattern, q.Patterns, q.Lacking = all[0], all[1:wanted:wanted], all[wanted:]
	q.Match.Syntax, q.Match.Unicode = match.ECMAScript, true
}

// countTo is how far results are counted: beyond what this page shows.
func (c *call) countTo(limit int) int {
	if c.String("count") == "exact" {
		return math.MaxInt
	}
	if offset := c.Int("offset"); offset+limit > limit*countFactor {
		return offset + limit*countFactor
	}
	return limit * countFactor
}

// either is an argument or its default.
func (c *call) either(name string, otherwise, most int) int {
	if !c.Given(name) {
		return otherwise
	}
	return min(c.Int(name), most)
}

const (
	maxContext = 50
	maxBlocks  = 5000
)

// run searches. A pattern that gives up on a text is an error, since its
// results so far may be incomplete.
func (c *call) run(ctx context.Context, q search.Query) (*search.Result, error) {
	r, err := c.ws.Search(ctx, q)
	if err != nil {
		return nil, err
	}
	for i := range r.Files {
		lines := r.Files[i].Lines
		for j := range lines {
			lines[j] = quarry.Decoded(lines[j])
		}
	}
	return r, spent(&r.Summary)
}

// unfinished says that the answer is partial if a search took too long, else
// "". "Nothing found" must never mean "not searched".
func (c *call) unfinished(s *search.Summary) string {
	if s.Stopped != search.StopTime {
		return ""
	}
	return fmt.Sprintf("Stopped after %s: the answer is partial. Use a more specific search or path.", c.o.Time)
}

func spent(s *search.Summary) error {
	if s.Stopped != search.StopBudget {
		return nil
	}
	return &tool.Error{Code: fault.InvalidPattern, Message: match.ErrBudget.Error(), Hint: "Use a pattern without nested repetitions, or narrow the path."}
}

// searchBlocks answers in Roo's form.
func searchBlocks(ctx context.Context, c *call) (*answer, error) {
	limit := c.either("max_results", c.d.limits.blocks, maxBlocks)
	q := c.query(ctx, c.String("regex"), c.globs(ctx, "file_pattern", c.path(ctx, "path")))
	if q.Structure = c.String("structure"); q.Structure != "" && (len(q.Patterns) > 0 || len(q.Lacking) > 0) {
		return nil, invalid("also, all and lacking can't be used together with structure.")
	}
	if err := c.respell(&q); err != nil {
		return nil, err
	}
	if a, err := c.showOther(ctx, q, "file_pattern"); a != nil || err != nil {
		return a, err
	}
	q.Before = c.either("context_lines", c.d.limits.blockContext, maxContext)
	q.After = q.Before
	q.Limits.Blocks, q.Limits.CountTo, q.Limits.CountCheaply = limit, c.countTo(limit), c.String("count") != "exact"
	q.Limits.BlockLines = c.o.Budget/shortLine + 1
	q.Symbols = c.d.around
	offset := q.Offset
	r, err := c.run(ctx, q)
	if err != nil {
		return nil, err
	}
	total := render.Total{N: r.Blocks}
	if !r.Exact {
		total = render.Total{N: min(r.Blocks, q.Limits.CountTo), More: true}
	}
	text := fmt.Appendf(nil, "Found %s %s.", total, plural(total, "result", "results"))
	text, shown := render.Blocks(text, r.Files, q.Before+q.After+1, c.limits())
	cut := ""
	c.last = r.Stopped == "" // what is missing is no page: a server didn't answer
	if offset == 0 && (shown.Results < total.N || total.More && !c.last) || offset > 0 && offset+shown.Results < total.N {
		text = fmt.Appendf(text, "\n# Showing %s of %s results. Use a more specific search or path if necessary.", first(offset, shown.Results), total)
		cut = "results"
	}
	if s := c.unfinished(&r.Summary); s != "" {
		text, cut = append(text, "\n# "+s...), "time"
	}
	a := &answer{text: text}
	if shown.CutPath != "" {
		cut = "bytes"
		a.text = fmt.Appendf(a.text, "\n# The last result is cut before line %d of %s. Use a more specific search or path if necessary.", shown.CutLine, render.Path(shown.CutPath))
	}
	data := newSearchAnswer(&shown, total, render.BlockLine)
	data.Receipt = c.sumUp(ctx, &r.Summary, cut)
	a.data = data
	if total.N == 0 && r.Stopped == search.StopTime {
		return a, nil
	}
	if total.N == 0 {
		a.receipt = c.whyEmpty(ctx, q, &r.Summary, "file_pattern")
		return a, nil
	}
	by := byLimit
	if shown.Results < limit {
		by = byBudget
	}
	if r.Exact && r.Stopped == "" && q.Structure == "" && r.LinesMatched > total.N { // lines that stand together are one result
		a.receipt = append(a.receipt, fmt.Sprintf("%d matching lines", r.LinesMatched))
	}
	a.receipt = append(a.receipt, c.page("results", offset, shown.Results, total, by, "max_results", cut != "")...)
	if offset+shown.Results < total.N || total.More && !c.last {
		data.NextOffset = offset + shown.Results
	}
	c.finishSearch(a, &r.Summary, &shown)
	return a, nil
}

// finishSearch adds to a receipt what was cut and what was not searched.
func (c *call) finishSearch(a *answer, s *search.Summary, shown *render.Shown) {
	if shown.CutPath != "" && c.has("read_file") {
		a.receipt = append(a.receipt, fmt.Sprintf("the last result goes on: read_file {\"path\":%q,\"start_line\":%d}", shown.CutPath, shown.CutLine))
	}
	if s.Stopped == "" {
		if skip := c.skipped(s); skip != "" {
			a.receipt = append(a.receipt, skip)
		}
	}
}

func (c *call) whyEmpty(ctx context.Context, q search.Query, s *search.Summary, filter string) []string {
	if !c.d.explains {
		return nil
	}
	return c.zero(ctx, q, s, filter)
}

// first words a range of results: the first n, or which.
func first(offset, n int) string {
	if offset == 0 {
		return "first " + itoa(n)
	}
	return fmt.Sprintf("%d-%d", offset+1, offset+n)
}

func plural(t render.Total, one, many string) string {
	if t.N == 1 && !t.More {
		return one
	}
	return many
}
