package profile

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"quarry/fault"
	"quarry/internal/pcre"
	"quarry/internal/render"
	"quarry/match"
	"quarry/search"
	"quarry/tool"
)

const (
	// Results are counted up to countFactor times the limit.
	countFactor = 20
	// longLine is how many bytes of a line are kept around the match. No answer shows
	// more.
	longLine = 4 << 10
	// shortLine is the smallest size of a line in an answer: "  1 |".
	shortLine = 6
)

var readOnly = tool.Hints{ReadOnly: true, Idempotent: true}

// textSearch is a requested text search.
type textSearch struct {
	search.Query
	filter string // the name of the glob parameter
	limit  int    // the number of results to show
}

// textFound is the result of a text search, reduced to the results that an answer may
// show.
type textFound struct {
	*search.Summary
	files []search.FileMatch
	total render.Total
	asked int // the number of results that an answer may show
}

// form defines how a dialect reads a text search and words its result.
type form struct {
	pattern, filter string // parameter names of the pattern and of globs
	syntax          match.Syntax
	// sizes returns the default number of results, its maximum, and the lines of context.
	sizes func(l *limits) (limit, most, context int)
	find  func(ctx context.Context, c *call, s *textSearch) (*textFound, error)

	results string                     // the answer's noun for results
	none    func(s *textSearch) string // the answer to a search without results; nil means the default
	text    func(c *call, s *textSearch, r *textFound) ([]byte, render.Shown)
	cut     func(c *call, s *textSearch, p *page) string // says how much is shown
	remark  string                                       // prefix of a sentence at the end of the text
	goesOn  string                                       // says where a cut result continues
	line    int                                          // limit of a line in characters
	receipt func(c *call, s *textSearch, r *textFound, p *page) []string
}

// searching returns the action of a text search. pick selects its form.
func searching(pick func(c *call) (*form, error)) action {
	return action{searchSchema, readOnly, func(ctx context.Context, c *call) (*answer, error) {
		f, err := pick(c)
		if err != nil {
			return nil, err
		}
		s, err := c.readSearch(ctx, f)
		if err != nil {
			return nil, err
		}
		if a, err := c.showOther(ctx, s.Query, s.filter); a != nil || err != nil {
			return a, err
		}
		r, err := f.find(ctx, c, s)
		if err != nil {
			return nil, err
		}
		return c.textAnswer(ctx, f, s, r), nil
	}}
}

// always selects the only form of a dialect.
func always(f form) func(*call) (*form, error) {
	return func(*call) (*form, error) { return &f, nil }
}

var searchByEither = searching(eitherForm)

// eitherForm selects the form by the parameter for the pattern: Roo's for regex, the
// vault's for pattern.
func eitherForm(c *call) (*form, error) {
	refuse := func(message, hint string) (*form, error) {
		return nil, &tool.Error{Code: fault.InvalidArgument, Message: message, Hint: hint}
	}
	const hint = "Give regex for Rust syntax, or pattern for JavaScript syntax."
	switch regex, pattern := c.String("regex") != "", c.String("pattern") != ""; {
	case c.String("structure") != "" && (regex || pattern):
		return refuse("structure can't be used together with regex or pattern.", "Give one of them.")
	case regex && pattern:
		return refuse("regex and pattern can't be used together.", hint)
	case pattern:
		return &excerpts, nil
	case regex, c.String("structure") != "":
		return &blocks, nil
	}
	return refuse("regex or pattern is required and must be a non-empty string.", hint)
}

// where returns the scope of a search: the dialect's scope, widened by the caller's
// arguments and restricted to the given paths.
func (c *call) where(paths ...string) search.Scope {
	s := c.d.scope
	s.Paths = paths
	s.IncludeHidden = s.IncludeHidden || c.Bool("include_hidden")
	s.IncludeIgnored = s.IncludeIgnored || c.Bool("include_ignored")
	return s
}

// readSearch reads the arguments of a text search.
func (c *call) readSearch(ctx context.Context, f *form) (*textSearch, error) {
	limit, most, around := f.sizes(&c.d.limits)
	s := &textSearch{filter: f.filter, limit: c.either("max_results", limit, most), Query: search.Query{
		Pattern: c.String(f.pattern), Structure: c.String("structure"), Spans: true, Offset: c.Int("offset"),
		Scope:    c.where(c.file(ctx, "path")),
		Limits:   search.Limits{LineBytes: longLine, Time: c.o.Time},
		Patterns: c.Strings("also"), Each: c.Bool("all"), Lacking: c.Strings("lacking"),
		Match: match.Options{Syntax: f.syntax}, Symbols: c.d.around,
	}}
	q := &s.Query
	q.Changed.Git = c.Bool("changed")
	if globs := c.globs(ctx, f.filter, c.path(ctx, "path")); len(globs) > 0 { // otherwise the dialect's default globs apply
		q.Globs = globs
	}
	if c.Bool("ignore_case") {
		q.Match.Case = match.Insensitive
	}
	q.Before = c.either("context_lines", around, maxContext)
	q.After = q.Before
	if q.Structure != "" && (len(q.Patterns) > 0 || len(q.Lacking) > 0) {
		return nil, invalid("also, all and lacking can't be used together with structure.")
	}
	c.respell(q)
	c.readAsPCRE(ctx, q)
	return s, nil
}

// readAsPCRE treats a pattern with look-around or a backreference as PCRE2, since Rust's
// syntax lacks them. Agents use them to find calls that differ from the usual form, like
// grep -v in a shell.
func (c *call) readAsPCRE(ctx context.Context, q *search.Query) {
	if !c.d.pcre || q.Match.Syntax != match.Rust {
		return
	}
	all := append([]string{q.Pattern}, q.Patterns...)
	wanted := len(all)
	all = append(all, q.Lacking...) // all patterns must have the same syntax
	_, err := match.NewCompiler(ctx, q.Match).Any(all)
	if refused, ok := errors.AsType[*match.Error](err); !ok || !refused.ECMAScript {
		return
	}
	fold := q.Match.Case == match.Insensitive
	for i, p := range all {
		made, err := pcre.Translate(p, pcre.Options{Fold: fold, ByLine: q.Match.Mode == match.Lines, CRLF: q.Match.Mode == match.Multiline})
		grouped := made.Nested && strings.Contains(c.String("replacement"), "$")
		if err != nil || grouped || made.Refers && i < wanted && wanted > 1 {
			return // Rust's error names the unsupported syntax
		}
		all[i] = made.JavaScript
	}
	q.Pattern, q.Patterns, q.Lacking = all[0], all[1:wanted:wanted], all[wanted:]
	q.Match.Syntax, q.Match.Unicode = match.ECMAScript, true
}

// countTo returns the number up to which results are counted.
func (c *call) countTo(limit int) int {
	if c.String("count") == "exact" {
		return math.MaxInt
	}
	if offset := c.Int("offset"); offset+limit > limit*countFactor {
		return offset + limit*countFactor
	}
	return limit * countFactor
}

// either returns the named argument, or otherwise if it isn't given, but no more than most.
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

// run searches. If a pattern exceeds its matching limits on some text, run returns an
// error, since the results may be incomplete.
func (c *call) run(ctx context.Context, q search.Query) (*search.Result, error) {
	r, err := c.ws.Search(ctx, q)
	if err != nil {
		return nil, err
	}
	return r, budgetError(&r.Summary)
}

// unfinished returns a note that the answer is partial if the search timed out, else "".
// Without it, "nothing found" could mean "not searched".
func (c *call) unfinished(s *search.Summary) string {
	if s.Stopped != search.StopTime {
		return ""
	}
	return fmt.Sprintf("Stopped after %s: the answer is partial. Use a more specific search or path.", c.o.Time)
}

func budgetError(s *search.Summary) error {
	if s.Stopped != search.StopBudget {
		return nil
	}
	return &tool.Error{Code: fault.InvalidPattern, Message: match.ErrBudget.Error(), Hint: "Use a pattern without nested repetitions, or narrow the path."}
}

// textAnswer words the result of a text search.
func (c *call) textAnswer(ctx context.Context, f *form, s *textSearch, r *textFound) *answer {
	partial := c.unfinished(r.Summary)
	a := &answer{sum: r.Summary}
	p := &page{what: f.results, offset: s.Offset, total: r.total, limit: "max_results"}
	c.last = r.Stopped == "" // more results can then only be on a server that didn't answer
	if r.total.N == 0 && f.none != nil {
		a.text = []byte(f.none(s))
	} else {
		a.text, p.shown = f.text(c, s, r)
		p.more = p.next() < r.total.N || r.total.More && !c.last
	}
	if p.by = byLimit; p.shown.Results < r.asked {
		p.by = byBudget
	}
	if p.more {
		a.text, p.cut = append(a.text, f.cut(c, s, p)...), f.results
	}
	if partial != "" {
		a.text, p.cut = append(append(a.text, f.remark...), partial...), "time"
	}
	data := newSearchAnswer(&p.shown, r.total, f.line)
	a.data = data
	switch {
	case r.total.N > 0:
		a.receipt = f.receipt(c, s, r, p)
	case partial == "":
		a.receipt = c.whyEmpty(ctx, s.Query, r.Summary, s.filter)
	}
	if p.shown.CutPath != "" {
		p.cut = "bytes"
		if f.goesOn != "" {
			a.text = fmt.Appendf(a.text, f.goesOn, p.shown.CutLine, render.Path(p.shown.CutPath))
		}
	}
	a.cut = p.cut
	if r.total.N == 0 {
		return a
	}
	if p.more {
		data.NextOffset = p.next()
	}
	if p.shown.CutPath != "" && c.has("read_file") {
		a.receipt = append(a.receipt, fmt.Sprintf("the last result goes on: read_file {\"path\":%q,\"start_line\":%d}", p.shown.CutPath, p.shown.CutLine))
	}
	if r.Stopped == "" {
		if skip := c.skipped(r.Summary); skip != "" {
			a.receipt = append(a.receipt, skip)
		}
	}
	return a
}

func (c *call) whyEmpty(ctx context.Context, q search.Query, s *search.Summary, filter string) []string {
	if !c.d.explains {
		return nil
	}
	return c.zero(ctx, q, s, filter)
}

// first words a range of results, such as "the first n".
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
