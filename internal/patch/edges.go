package patch

import (
	"strings"

	"quarry/change"
)

// usualContext is the default number of context lines in a diff.
const usualContext = 3

// contextWidth returns the number of context lines that the diffs have before and after
// changes, at most usualContext: diff -W has more on one side.
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

// contextOf returns the number of context lines at the start and at the end of a hunk.
func contextOf(h change.Edit) (before, after int) {
	changed := false
	for line := range strings.Lines(h.Hunk) {
		switch line[0] {
		case '\\':
		case '+', '-':
			changed, after = true, 0
		default: // includes a blank line that has lost its leading space
			if !changed {
				before++
			}
			after++
		}
	}
	return before, after
}

// edges marks the hunks at the start or end of the file. Like git and GNU patch, it assumes
// these positions for hunks with fewer context lines before or after the change than elsewhere
// in the patch. A diff without git's index line may be handwritten, with any number of context
// lines, so its line number must agree. Hunks without numbers, or with wrong counts, are not
// marked.
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
