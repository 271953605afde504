package searcher

import "quarry/search"

// A block is a run of matching lines, with their context, that an answer shows in one
// piece: the context lines of neighboring matches touch or overlap. With one line of
// context on either side, matches at most 3 lines apart share a block.

// blockGap returns the largest distance, in lines, between consecutive matches of a
// block.
func blockGap(q *search.Query) int { return q.Before + q.After + 1 }

// blockStarts calls yield with the index of the first matching line of each block until
// yield returns false.
func blockStarts(lines []search.Line, gap int, yield func(i int) bool) {
	last := 0
	for i := range lines {
		if !lines[i].Hit {
			continue
		}
		if n := lines[i].Number; last == 0 || n-last > gap {
			if !yield(i) {
				return
			}
		}
		last = lines[i].Number
	}
}

func countBlocks(lines []search.Line, gap int) int {
	n := 0
	blockStarts(lines, gap, func(int) bool { n++; return true })
	return n
}

// blockStart returns the index of the first matching line of block n, counted from
// 0, or the number of lines if there are fewer blocks.
func blockStart(lines []search.Line, n, gap int) int {
	at := len(lines)
	blockStarts(lines, gap, func(i int) bool {
		if n == 0 {
			at = i
		}
		n--
		return n >= 0
	})
	return at
}

// cutBlocks keeps the first n blocks of a file.
func cutBlocks(f *search.FileMatch, n, gap, after int) {
	end := blockStart(f.Lines, max(n, 0), gap)
	last := 0 // number of the last matching line kept
	for i := end - 1; i >= 0 && last == 0; i-- {
		if f.Lines[i].Hit {
			last = f.Lines[i].Number
		}
	}
	// The lines after the last match are the context of the next block.
	for end > 0 && f.Lines[end-1].Number > last+after {
		end--
	}
	f.Lines = f.Lines[:end]
	f.Matched = hits(f.Lines)
}

// dropBlocks drops the first n blocks of a file.
func dropBlocks(f *search.FileMatch, n, gap, before int) {
	start := blockStart(f.Lines, n, gap)
	if start < len(f.Lines) {
		first := f.Lines[start].Number
		for start > 0 && f.Lines[start-1].Number >= first-before {
			start--
		}
	}
	f.Lines = f.Lines[start:]
	f.Matched = hits(f.Lines)
}

func hits(lines []search.Line) int {
	n := 0
	for i := range lines {
		if lines[i].Hit {
			n++
		}
	}
	return n
}
