package profile

import (
	"context"
	"fmt"
	"strings"

	"quarry"
	"quarry/internal/render"
	"quarry/match"
	"quarry/search"
)

// An empty answer in quarry explains itself: where it looked and with which
// filters, and which other search would find something. It only says what was
// found. These extra searches are a courtesy, so they read little: a fixed
// number of files and bytes in path order, the same on a fast and on a slow
// machine.

const (
	// zeroFiles is how many files a wider search counts, and zeroNames how many
	// it names. Naming a few saves the call that would list them.
	zeroFiles, zeroNames = 10, 3

	// What one extra search reads. With an index only files that could match
	// are read, which takes a few milliseconds on 78,000 files. Without an
	// index the first files in path order are read; most workspaces don't have
	// more.
	indexReads, indexBytes = 64, 2 << 20
	scanReads, scanBytes   = 1000, 16 << 20
)

// looking makes the wider searches that explain an empty answer, and collects
// their sentences in found.
type looking struct {
	c     *call
	scan  bool // there is no index: a look reads the files themselves
	whole bool // the index has ignored files, too
	found []string
}

func (c *call) look(sum *search.Summary) *looking {
	return &looking{c: c, scan: sum.Stats.Plan == "" || sum.Stats.Plan == "scan", whole: sum.Stats.IgnoredIndexed}
}

// limits are those of one extra search.
func (l *looking) limits() search.Limits {
	if l.scan {
		return search.Limits{Files: zeroFiles, Reads: scanReads, ReadBytes: scanBytes}
	}
	return search.Limits{Files: zeroFiles, Reads: indexReads, ReadBytes: indexBytes}
}

// seen is the result of an extra search: the files that match, up to zeroFiles,
// and whether there may be more.
type seen struct {
	files []string
	more  bool
	text  string // of the first match, when asked for
}

// search looks for files that match a changed query and says how many.
func (l *looking) search(ctx context.Context, what string, q search.Query, change func(*search.Query)) seen {
	change(&q)
	s := l.ask(ctx, q)
	l.say(what, s)
	return s
}

// ask looks for files that match a query.
func (l *looking) ask(ctx context.Context, q search.Query) (s seen) {
	q.Detail, q.Spans, q.Before, q.After, q.Offset = search.Files, false, 0, 0, 0
	q.Limits = l.limits()
	sum, err := l.c.ws.SearchEach(ctx, q, func(f *search.FileMatch) error {
		s.files = append(s.files, f.Path)
		return nil
	})
	if err != nil {
		return seen{} // such a search can't be made
	}
	s.more = sum.FilesMatched > zeroFiles || sum.Stopped == search.StopReads
	return s
}

// askText is ask with the text of the first match, as a whole word.
func (l *looking) askText(ctx context.Context, q search.Query) (s seen) {
	q.Detail, q.Spans, q.Before, q.After, q.Offset = search.Lines, true, 0, 0, 0
	q.Limits = l.limits()
	q.Limits.LinesPerFile, q.Limits.LineBytes = 1, longLine
	sum, err := l.c.ws.SearchEach(ctx, q, func(f *search.FileMatch) error {
		if s.text == "" && len(f.Lines) > 0 {
			if line := quarry.Decoded(f.Lines[0]); len(line.Spans) > 0 {
				s.text = wholeWord(string(line.Text), line.Spans[0])
			}
		}
		s.files = append(s.files, f.Path)
		return nil
	})
	if err != nil {
		return seen{}
	}
	s.more = sum.FilesMatched > zeroFiles || sum.Stopped == search.StopReads
	return s
}

// say words what a look saw.
func (l *looking) say(what string, s seen) {
	n, plus := min(len(s.files), zeroFiles), ""
	if s.more || len(s.files) > zeroFiles {
		plus = "+"
	}
	switch {
	case n == 1 && plus == "":
		l.found = append(l.found, what+" 1 file matches"+few(s.files, n))
	case n > 0:
		l.found = append(l.found, fmt.Sprintf("%s %d%s files match%s", what, n, plus, few(s.files, n)))
	}
}

// few names what was found: all of it if that is not much, else the first.
func few(found []string, total int) string {
	switch {
	case total == 0 || len(found) == 0:
		return ""
	case total > zeroNames || len(found) < total:
		return " (the first: " + render.Path(found[0]) + ")"
	}
	return " (" + strings.Join(names(found), ", ") + ")"
}

const (
	withHidden  = "with include_hidden"
	withIgnored = "with include_ignored"
	withBoth    = "with include_hidden and include_ignored"
)

// zero explains a text search without matches.
func (c *call) zero(ctx context.Context, q search.Query, sum *search.Summary, filter string) []string {
	l := c.look(sum)
	if q.Each {
		l.search(ctx, "without all", q, func(q *search.Query) { q.Each = false })
	}
	if q.Changed.Any() {
		l.search(ctx, "without changed", q, func(q *search.Query) { q.Changed = search.Changed{} })
	}
	if len(q.Globs) > 0 {
		l.search(ctx, "without "+filter, q, func(q *search.Query) { q.Globs = nil })
	}
	if base := q.Paths[0]; base != "" && base != "." {
		l.search(ctx, "outside "+quoted(base), q, func(q *search.Query) { q.Paths = nil })
		if len(q.Globs) > 0 && len(l.found) == 0 {
			l.search(ctx, "without path and "+filter, q, func(q *search.Query) { q.Paths, q.Globs = nil, nil })
		}
	}
	found := len(l.found) > 0
	if q.Match.Case == match.Sensitive {
		l.search(ctx, "in another letter case", q, func(q *search.Query) { q.Match.Case = match.Insensitive })
	}
	if !found && len(l.found) == 0 {
		l.forms(ctx, q)
	}
	var hidden seen
	known := sum.Stats.Plan == "scan" // an index doesn't count what it leaves out
	if !q.IncludeHidden && (!known || sum.SkippedCount[search.Hidden] > 0) {
		hidden = l.search(ctx, withHidden, q, func(q *search.Query) { q.IncludeHidden = true })
	}
	if !q.IncludeIgnored && (!known || sum.SkippedCount[search.Ignored] > 0) {
		l.ignored(ctx, "", q, hidden)
		if len(l.found) == 0 && len(q.Globs) > 0 {
			all := q
			all.Globs, all.IncludeHidden = nil, true
			l.ignored(ctx, "without "+filter+", ", all, l.ask(ctx, all))
		}
	}
	parts := append([]string{"searched " + c.scope(&q, filter)}, l.found...)
	if p, err := match.Compile(q.Pattern, q.Match); err == nil {
		for _, hint := range p.Hints() {
			parts = append(parts, strings.TrimSuffix(hint, "."))
		}
	}
	if s := c.skipped(sum); s != "" {
		parts = append(parts, s)
	}
	return parts
}
