package patch

import (
	"strings"

	"quarry/change"
)

// usualContext is the default number of context lines in a diff.
const usualContext = 3

// contextWidth returns how many context lines the diffs have on either side, at most the
// usual number: diff -W has more on one side.
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

// contextOf counts the context lines at the start and at the end of a hunk.
func contextOf(h change.Edit) (before, after int) {
	changed := false
	for line := range strings.Lines(h.Hunk) {
		switch line[0] {
		case '\\':
		case '+', '-':
			changed, after = true, 0
		default: // also a blank line whose leading space was lost
			if !changed {
				before++
			}
			after++
		}
	}
	return before, after
}

// edges marks hunks at the start or end of the file: those with fewer context lines there
// than elsewhere in the patch, as interpreted by git and GNU patch. A diff without git's
// index line may be handwritten, with any number of context lines; then the line number
// must agree. If the numbers are certainly not counted, the context is not used.
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
