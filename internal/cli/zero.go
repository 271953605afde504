package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"quarry/internal/cli/printing"
	"quarry/match"
	"quarry/search"
)

// zeroTime bounds each search with wider options.
const zeroTime = time.Second

// explainZero tells a person why nothing was found: where was searched, what
// narrowed it, and which wider search would find something.
func (r *searching) explainZero(ctx context.Context) {
	if r.f.quiet || r.f.mode != "" && r.f.mode != "files-with-matches" && r.f.mode != "count" && r.f.mode != "count-matches" ||
		!r.s.ErrTerminal() || !r.s.OutTerminal() {
		return
	}
	var where []string
	for i := range r.targets {
		where = append(where, printing.Escape(r.targets[i].arg()))
	}
	n := r.total.Stats.Searched
	fmt.Fprintf(r.s.Err, "quarry: no match in %s (%d %s searched)\n", strings.Join(where, ", "), n, plural(n, "file", "files"))
	for _, note := range r.zeroNotes(ctx) {
		fmt.Fprintf(r.s.Err, "  %s\n", note)
	}
}

func (r *searching) zeroNotes(ctx context.Context) []string {
	var notes []string
	note := func(n int, format string, args ...any) {
		if n > 0 {
			notes = append(notes, fmt.Sprintf(format, args...))
		}
	}
	notes = append(notes, r.pattern.Hints()...)
	if filters := r.f.filters(); filters != "" {
		n := r.wider(ctx, func(q *search.Query) { q.Globs, q.Types, q.MaxDepth, q.Changed = nil, nil, 0, search.Changed{} })
		notes = append(notes, "only files that pass "+printing.Escape(filters))
		note(n, "%d other %s: leave the filter out to see %s", n, plural(n, "file matches", "files match"), plural(n, "it", "them"))
	}
	if !r.q.IncludeIgnored || !r.q.IncludeHidden {
		n := r.wider(ctx, func(q *search.Query) { q.IncludeIgnored, q.IncludeHidden = true, true })
		note(n, "%d hidden or ignored %s: -uu shows %s", n, plural(n, "file matches", "files match"), plural(n, "it", "them"))
	}
	if n := r.total.SkippedCount[search.Binary] - r.binaryTold; n > 0 {
		notes = append(notes, fmt.Sprintf("%d binary %s", n, plural(n, "file was skipped: -a searches it", "files were skipped: -a searches them")))
	}
	if r.q.Match.Case != match.Insensitive {
		n := r.wider(ctx, func(q *search.Query) { q.Match.Case = match.Insensitive })
		note(n, "%d %s in other letter case: -i shows %s", n, plural(n, "file matches", "files match"), plural(n, "it", "them"))
	}
	if r.q.Match.Syntax != match.Literal && strings.ContainsAny(strings.Join(r.q.Patterns, ""), `\.+*?()|[]{}^$`) {
		n := r.wider(ctx, func(q *search.Query) { q.Match.Syntax = match.Literal })
		note(n, "%d %s the pattern as plain text: -F shows %s", n, plural(n, "file has", "files have"), plural(n, "it", "them"))
	}
	return notes
}

// wider counts the files that a changed query finds within a second.
func (r *searching) wider(ctx context.Context, change func(*search.Query)) int {
	q := r.q
	q.Detail, q.FilesWithoutMatch, q.Spans, q.CountMatches = search.Files, false, false, false
	q.Limits.Time = zeroTime
	change(&q)
	n := 0
	for _, t := range r.targets {
		if t.stdin {
			continue // it can be read only once
		}
		q.Paths = []string{t.path}
		if sum, err := t.ws.SearchEach(ctx, q, func(*search.FileMatch) error { return nil }); err == nil {
			n += sum.FilesMatched
		}
	}
	return n
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
