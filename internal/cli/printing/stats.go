package printing

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"quarry/match"
	"quarry/search"
)

// WriteStats describes a search: ripgrep's statistics, in its words, then the skipped files and the
// search plan. printed is the number of bytes of lines printed.
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
	if s.Stats.Remote {
		who = ", answered by the index owner"
	}
	fmt.Fprintf(w, "plan: %s%s\n", planText(&s.Stats.Plan), who)
}

// planText describes how the candidate files were found.
func planText(p *search.Plan) string {
	switch p.Kind {
	case search.PlanWords:
		return fmt.Sprintf("index: words of %d files, %d of them read again", p.Documents, p.Changed)
	case search.PlanSymbols:
		return fmt.Sprintf("index: definitions, %d files read again", p.Changed)
	case search.PlanFields:
		return fmt.Sprintf("index: metadata of %d files, %d of them read again", p.Documents, p.Changed)
	case search.PlanScan, "":
		return string(p.Kind)
	}
	switch {
	case p.Every:
		return fmt.Sprintf("index: every one of %d files, %d changed", p.Documents, p.Changed)
	case p.NoDetail && p.AtLeast:
		return fmt.Sprintf("index: some of %d files, %d changed", p.Documents, p.Changed)
	case p.NoDetail:
		return fmt.Sprintf("index: %d of %d files, %d changed", p.Candidates, p.Documents, p.Changed)
	}
	some, blocks := "", ""
	if p.AtLeast {
		some = "at least "
	}
	if p.Blocks > 0 {
		blocks = fmt.Sprintf(" in %d blocks", p.Blocks)
	}
	return fmt.Sprintf("index: %s%d of %d files%s by %d of %d grams, %d changed", some, p.Candidates, p.Documents, blocks, p.Lists, p.Grams, p.Changed)
}

func orNothing(s string) string {
	return cmp.Or(s, "nothing")
}
