package printing

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"quarry/match"
	"quarry/search"
)

// WriteStats tells how a search went.
func WriteStats(w io.Writer, s *search.Summary, p *match.Pattern) {
	fmt.Fprintf(w, "\n%d matching lines\n", s.LinesMatched)
	fmt.Fprintf(w, "%d files with matches\n", s.FilesMatched)
	fmt.Fprintf(w, "%d files searched of %d considered\n", s.Stats.Searched, s.Stats.Considered)
	fmt.Fprintf(w, "%d bytes searched\n", s.Stats.Bytes)
	var reasons []string
	for why, n := range s.SkippedCount {
		reasons = append(reasons, fmt.Sprintf("%s %d", why, n))
	}
	slices.Sort(reasons)
	fmt.Fprintf(w, "skipped: %s\n", orNothing(strings.Join(reasons, ", ")))
	if s.Stopped != "" {
		fmt.Fprintf(w, "stopped by the limit on %s\n", s.Stopped)
	}
	fmt.Fprintf(w, "strategy: %s\n", p.Strategy())
	who := ""
	if s.Stats.Remote && !strings.HasPrefix(s.Stats.Plan, "zoekt") {
		who = ", answered by the process that keeps the index"
	}
	fmt.Fprintf(w, "plan: %s%s\n", s.Stats.Plan, who)
	fmt.Fprintf(w, "%.6f seconds\n", s.Stats.Elapsed.Seconds())
}

func orNothing(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}
