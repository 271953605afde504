package profile

import (
	"context"
	"fmt"
	"strings"
	"time"

	"quarry"
	"quarry/internal/render"
	"quarry/match"
)

// skipped words what was not searched and might have matched. Files that were
// left out on purpose (hidden, ignored, filtered) are not in it.
func skipped(s *quarry.Summary) string {
	var parts []string
	for _, why := range []quarry.Reason{quarry.Binary, quarry.TooLarge, quarry.Unreadable} {
		if n := s.SkippedCount[why]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, strings.ReplaceAll(string(why), "_", " ")))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "not searched: " + strings.Join(parts, ", ")
}

// page words which results are shown, and the next call when there are more.
func (c *call) page(what string, offset, shown int, total render.Total) []string {
	if offset == 0 && shown == total.N && !total.More {
		return []string{"all " + what + " shown"}
	}
	if shown == 0 {
		return []string{fmt.Sprintf("offset %d is past the last of %s %s", offset, total, what)}
	}
	parts := []string{fmt.Sprintf("%s %d-%d of %s", what, offset+1, offset+shown, total)}
	if offset+shown < total.N || total.More {
		parts = append(parts, "next: "+c.next(offset+shown))
	}
	return parts
}

// zeroFiles is how many files a wider look counts, and zeroTime how long all
// looks together may take: they are a courtesy. A look that doesn't end in time
// says nothing.
const (
	zeroFiles = 10
	zeroTime  = 1500 * time.Millisecond
)

// zero explains an answer without matches: where was searched and under which
// filters, and which wider search would find something.
func (c *call) zero(ctx context.Context, q quarry.Query, sum *quarry.Summary, filter string) []string {
	parts := []string{"searched " + c.scope(&q, filter)}
	ctx, cancel := context.WithTimeout(ctx, zeroTime)
	defer cancel()
	look := func(what string, change func(*quarry.Query)) {
		if n := c.wider(ctx, q, change); n != "" {
			parts = append(parts, what+" "+n)
		}
	}
	if len(q.Globs) > 0 {
		look("without "+filter, func(q *quarry.Query) { q.Globs = nil })
	}
	left := sum.SkippedCount[quarry.Hidden] + sum.SkippedCount[quarry.Ignored]
	if (!q.Ignored || !q.Hidden) && (left > 0 || sum.Stats.Plan != "scan") { // an index doesn't count them
		look("with include_hidden and include_ignored", func(q *quarry.Query) { q.Hidden, q.Ignored = true, true })
	}
	if q.Match.Case == match.Sensitive {
		look("in another letter case", func(q *quarry.Query) { q.Match.Case = match.Insensitive })
	}
	if q.Match.Syntax != match.Literal && strings.ContainsAny(q.Pattern, `\.+*?()|[]{}^$`) {
		look("as plain text", func(q *quarry.Query) { q.Match.Syntax = match.Literal })
	}
	if len(parts) == 1 && len(q.Globs) > 0 {
		look("without "+filter+", with include_hidden and include_ignored", func(q *quarry.Query) {
			q.Globs, q.Hidden, q.Ignored = nil, true, true
		})
	}
	if s := skipped(sum); s != "" {
		parts = append(parts, s)
	}
	return parts
}

// scope words where a search looked.
func (c *call) scope(q *quarry.Query, filter string) string {
	where := "the whole workspace"
	if names := c.ws.Names(); len(names) > 0 {
		where = "the roots " + strings.Join(names, ", ")
	}
	if len(q.Paths) > 0 && q.Paths[0] != "" && q.Paths[0] != "." {
		where = quoted(q.Paths[0])
	}
	if len(q.Globs) > 0 {
		where += ", " + filter + " " + quoted(strings.Join(q.Globs, ", "))
	}
	switch {
	case !q.Hidden && !q.Ignored:
		where += ", without hidden and ignored files"
	case !q.Hidden:
		where += ", without hidden files"
	case !q.Ignored:
		where += ", without ignored files"
	}
	return where
}

// wider says how many files a changed query finds, "" for none.
func (c *call) wider(ctx context.Context, q quarry.Query, change func(*quarry.Query)) string {
	q.Detail, q.Spans, q.Before, q.After, q.Offset = quarry.Files, false, 0, 0, 0
	q.Limits = quarry.Limits{Files: zeroFiles}
	change(&q)
	sum, err := c.ws.SearchEach(ctx, q, func(*quarry.File) error { return nil })
	switch {
	case err != nil || sum.FilesMatched == 0:
		return ""
	case sum.FilesMatched > zeroFiles:
		return fmt.Sprintf("%d+ files match", zeroFiles)
	case sum.FilesMatched == 1:
		return "1 file matches"
	}
	return fmt.Sprintf("%d files match", sum.FilesMatched)
}
