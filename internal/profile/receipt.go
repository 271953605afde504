package profile

import (
	"fmt"
	"strings"

	"quarry"
	"quarry/internal/render"
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
	if offset+shown < total.N || total.More && !c.last {
		parts = append(parts, "next: "+c.next(offset+shown))
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
	case !q.IncludeHidden && !q.IncludeIgnored:
		where += ", without hidden and ignored files"
	case !q.IncludeHidden:
		where += ", without hidden files"
	case !q.IncludeIgnored:
		where += ", without ignored files"
	}
	return where
}
