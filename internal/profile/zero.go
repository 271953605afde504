package profile

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"quarry"
	"quarry/internal/render"
	"quarry/match"
)

// An empty answer in quarry explains itself: where was looked and under which
// filters, and which wider search would find something. The looks are a
// courtesy, so they take little time: those that an index answers come first,
// and one that doesn't end in time is named as such.

const (
	// zeroFiles is how many files a wider look counts, and zeroNames how many it
	// names: few enough to spare the call that would list them.
	zeroFiles, zeroNames = 10, 3
	// zeroTime is how long all looks of one answer may take. With an index each
	// takes a few milliseconds; reading ignored files is what it cuts off.
	zeroTime = 120 * time.Millisecond
)

// looking is the wider looks of one empty answer.
type looking struct {
	c     *call
	until time.Time
	found []string
	cut   []string // looks that did not end
}

func (c *call) look() *looking { return &looking{c: c, until: time.Now().Add(c.o.WiderTime)} }

// parts are what the looks have to say.
func (l *looking) parts() []string {
	if len(l.cut) == 0 {
		return l.found
	}
	return append(l.found, "not looked to the end: "+strings.Join(l.cut, ", "))
}

// seen is what a look saw: the files that match, up to zeroFiles, and whether
// it would have seen more, or doesn't know because its time was over.
type seen struct {
	files     []string
	more, cut bool
}

// search looks for files that match a changed query and says how many.
func (l *looking) search(ctx context.Context, what string, q quarry.Query, change func(*quarry.Query)) seen {
	change(&q)
	s := l.ask(ctx, q)
	l.say(what, s)
	return s
}

// ask looks for files that match a query.
func (l *looking) ask(ctx context.Context, q quarry.Query) (s seen) {
	q.Detail, q.Spans, q.Before, q.After, q.Offset = quarry.Files, false, 0, 0, 0
	q.Limits = quarry.Limits{Files: zeroFiles, Time: time.Until(l.until)}
	if q.Limits.Time <= 0 {
		return seen{cut: true}
	}
	sum, err := l.c.ws.SearchEach(ctx, q, func(f *quarry.File) error {
		s.files = append(s.files, f.Path)
		return nil
	})
	if err != nil {
		return seen{} // such a search can't be made
	}
	s.cut = sum.Stopped == quarry.StopTime
	s.more = sum.FilesMatched > zeroFiles || s.cut
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
	case s.cut:
		l.cut = append(l.cut, what)
	}
}

// find is the same for paths.
func (l *looking) find(ctx context.Context, what, one, many string, q quarry.FindQuery, change func(*quarry.FindQuery)) {
	q.Limit, q.Offset = zeroNames, 0
	change(&q)
	ctx, cancel := context.WithDeadline(ctx, l.until)
	defer cancel()
	r, err := l.c.ws.Find(ctx, q)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		l.cut = append(l.cut, what)
	case err == nil && r.Total > 0:
		var found []string
		for _, e := range r.Entries {
			found = append(found, e.Path)
		}
		l.found = append(l.found, what+" "+render.Plural(r.Total, one, many)+few(found, r.Total))
	}
}

// few names what was found, if it is all and not much.
func few(found []string, total int) string {
	if total > zeroNames || len(found) < total {
		return ""
	}
	return " (" + strings.Join(names(found), ", ") + ")"
}

const (
	withHidden = "with include_hidden"
	withBoth   = "with include_hidden and include_ignored"
)

// zero explains a text search without matches.
func (c *call) zero(ctx context.Context, q quarry.Query, sum *quarry.Summary, filter string) []string {
	l := c.look()
	if len(q.Globs) > 0 {
		l.search(ctx, "without "+filter, q, func(q *quarry.Query) { q.Globs = nil })
	}
	if q.Match.Case == match.Sensitive {
		l.search(ctx, "in another letter case", q, func(q *quarry.Query) { q.Match.Case = match.Insensitive })
	}
	if q.Match.Syntax != match.Literal && strings.ContainsAny(q.Pattern, `\.+*?()|[]{}^$`) {
		l.search(ctx, "as plain text", q, func(q *quarry.Query) { q.Match.Syntax = match.Literal })
	}
	nothing := len(l.found) == 0
	var hidden seen
	known := sum.Stats.Plan == "scan" // an index doesn't count what it leaves out
	if !q.IncludeHidden && (!known || sum.SkippedCount[quarry.Hidden] > 0) {
		hidden = l.search(ctx, withHidden, q, func(q *quarry.Query) { q.IncludeHidden = true })
	}
	if !q.IncludeIgnored && (!known || sum.SkippedCount[quarry.Ignored] > 0) {
		l.ignored(ctx, withBoth, q, hidden)
	}
	if nothing && len(l.found) == 0 && len(q.Globs) > 0 && !q.IncludeIgnored {
		all := q
		all.Globs, all.IncludeHidden = nil, true
		l.ignored(ctx, "without "+filter+", "+withBoth, all, l.ask(ctx, all))
	}
	parts := append([]string{"searched " + c.scope(&q, filter)}, l.parts()...)
	if s := skipped(sum); s != "" {
		parts = append(parts, s)
	}
	return parts
}

// zeroPaths explains a path search without matches.
func (c *call) zeroPaths(ctx context.Context, q quarry.FindQuery) []string {
	if !c.union() {
		return nil
	}
	scope := quarry.Query{Scope: q.Scope}
	scope.Globs = nil
	l := c.look()
	look := func(what string, change func(*quarry.FindQuery)) {
		l.find(ctx, what, "file matches", "files match", q, change)
	}
	look("in any letter case", func(q *quarry.FindQuery) {
		q.Dialect = quarry.Vault
		if !strings.Contains(q.Globs[0], "/") {
			q.Globs = []string{"**/" + q.Globs[0]}
		}
	})
	if len(l.found) == 0 && !strings.ContainsAny(q.Globs[0], "*?[{") {
		look("as a part of a path", func(q *quarry.FindQuery) { q.Dialect, q.Globs = quarry.Vault, []string{"**" + q.Globs[0] + "**"} })
	}
	if !q.IncludeHidden || !q.IncludeIgnored {
		look(withBoth, func(q *quarry.FindQuery) { q.IncludeHidden, q.IncludeIgnored = true, true })
	}
	return append([]string{"searched " + c.scope(&scope, "")}, l.parts()...)
}

// zeroList explains an empty listing.
func (c *call) zeroList(ctx context.Context, q quarry.FindQuery) []string {
	scope := quarry.Query{Scope: q.Scope}
	scope.Globs = nil
	where := "looked in " + c.scope(&scope, "")
	if q.MaxDepth == 1 && len(q.Paths) > 0 && q.Paths[0] == "." {
		where = strings.Replace(where, "the whole workspace", "the top folder alone", 1)
		where = strings.Replace(where, "the roots ", "the names of the roots ", 1)
	}
	l := c.look()
	look := func(what string, change func(*quarry.FindQuery)) {
		l.find(ctx, what, "item matches", "items match", q, change)
	}
	if strings.ToLower(q.Globs[0]) != strings.ToUpper(q.Globs[0]) {
		look("in any letter case", func(q *quarry.FindQuery) { q.Dialect = quarry.Vault })
	}
	if !q.IncludeHidden || !q.IncludeIgnored {
		look(withBoth, func(q *quarry.FindQuery) { q.IncludeHidden, q.IncludeIgnored = true, true })
	}
	if q.MaxDepth == 1 {
		look("at any depth (**/"+render.Name(q.Globs[0])+")", func(q *quarry.FindQuery) { q.MaxDepth = 0 })
	}
	return append([]string{where}, l.parts()...)
}

// zeroNotes says which of the words notes do have, and which notes were not
// searched.
func (c *call) zeroNotes(ctx context.Context, q quarry.NotesQuery, sum *quarry.Summary) []string {
	if !c.union() {
		return nil
	}
	parts := []string{"searched the names and text of .md files, without hidden and ignored ones"}
	if n := sum.SkippedCount[quarry.Ignored]; n > 0 {
		parts = append(parts, render.Plural(n, "ignored file or folder", "ignored files and folders")+" not searched: search_files with include_ignored does")
	}
	if s := skipped(sum); s != "" {
		parts = append(parts, s)
	}
	words := strings.Fields(q.Query)
	if len(words) < 2 || len(words) > 8 {
		return parts
	}
	l := c.look()
	ctx, cancel := context.WithDeadline(ctx, l.until)
	defer cancel()
	for _, word := range words {
		one := q
		one.Query, one.Content, one.Limit = word, false, 1
		r, err := c.ws.SearchNotes(ctx, one)
		switch {
		case err == nil:
			l.found = append(l.found, fmt.Sprintf("%q: %s", word, render.Plural(r.Total, "note", "notes")))
		case errors.Is(err, context.DeadlineExceeded):
			l.cut = append(l.cut, fmt.Sprintf("%q", word))
		}
	}
	return append(parts, l.parts()...)
}
