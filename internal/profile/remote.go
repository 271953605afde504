package profile

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"quarry/search"
)

// shownCommits is how many repositories a receipt names with their commit.
const shownCommits = 3

// remoteParts is what a receipt says about servers: the commits that were
// searched, and the servers that did not answer.
func remoteParts(s *search.Summary) []string {
	var parts, named []string
	for _, repo := range slices.Sorted(maps.Keys(s.Stats.Commits)) {
		if len(named) == shownCommits {
			named = append(named, fmt.Sprintf("%d more", len(s.Stats.Commits)-shownCommits))
			break
		}
		commit := s.Stats.Commits[repo]
		named = append(named, repo+" at "+commit[:min(len(commit), 12)])
	}
	if len(named) > 0 {
		parts = append(parts, "remote: "+strings.Join(named, ", "))
	}
	for _, k := range s.Skipped {
		if k.Server && len(parts) < 2*shownCommits {
			parts = append(parts, "incomplete: server "+k.Path+": "+k.Detail)
		}
	}
	return parts
}
