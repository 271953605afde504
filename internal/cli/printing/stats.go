package printing

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"quarry/match"
	"quarry/search"
)

// WriteStats tells how a search went: what ripgrep tells, in its words, and then
// what was skipped and how the answer came about. printed is how many bytes of lines
// were shown.
func WriteStats(w io.Writer, s *search.Summary, p *match.Pattern, printed int64) {
	fmt.Fprintf(w, "\n%d matches\n%d matched lines\n", s.Matches, s.LinesMatched)
	fmt.Fprintf(w, "%d files contained matches\n%d files searched\n", s.FilesMatched, s.Stats.Searched)
	fmt.Fprintf(w, "%d bytes printed\n%d bytes searched\n", printed, s.Stats.Bytes)
	fmt.Fprintf(w, "%.6f seconds total\n", s.Stats.Elapsed.Seconds())
	fmt.Fprintf(w, "%d files considered\n", s.Stats.Considered)
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
		who = ", answered by the index owner"
	}
	fmt.Fprintf(w, "plan: %s%s\n", s.Stats.Plan, who)
}

func orNothing(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}
