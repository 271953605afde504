package patch

import (
	"strings"

	"quarry/change"
)

// usualContext is the number of context lines that diff prints by default.
const usualContext = 3

// contextWidth is how many lines of context the diffs have on either side, at most
// the usual number: diff -W has more on one side.
func contextWidth(files []*fileDiff) int {
	width := 0
	for _, f := range files {
		if f.byHand {
			continue
		}
		for _, h := range f.hunks {
			before, after := contextOf(h)
			width = max(width, before, after)
		}
	}
	return min(width, usualContext)
}

// contextOf counts the context lines at the beginning and at the end of a hunk.
func contextOf(h change.Edit) (before, after int) {
	changed := false
	for line := range strings.Lines(h.Hunk) {
		switch line[0] {
		case '\\':
		case '+', '-':
			changed, after = true, 0
		default: // also a blank line whose space was lost
			if !changed {
				before++
			}
			after++
		}
	}
	return before, after
}

// edges notes which hunks say that the file begins or ends with them: those with
// fewer lines of context there than the patch has elsewhere. git and GNU patch
// read it so. A diff without git's index line may be written by hand, with as many
// lines as the writer liked; there the line number counts as well. Where it is
// certain that nobody has counted, the context says nothing of the kind.
func (f *fileDiff) edges(width int) {
	for i := range f.hunks {
		h := &f.hunks[i]
		if f.byHand {
			h.Stated = true
			continue
		}
		before, after := contextOf(*h)
		h.AtStart, h.AtEnd, h.Stated = before < width, after < width, f.blob == ""
	}
}
