package textedit

import (
	"hash/maphash"
	"iter"
	"math"

	"quarry/change"
	"quarry/fault"
)

// A table of the file's lines locates the hunks if there are at least minTabled. Without it, 5,000
// hunks in a file of 1 MB took 46 s of processor time. Fewer hunks are searched for in the text itself.
const (
	minTabled = 16
	maxTable  = 64 << 20 // bytes of text
)

// maxLineChecks limits the comparisons of a file's lines with lines of hunks, to about a
// second. Only hunks whose lines occur all over the file need so many.
const maxLineChecks = 20_000_000

var errTooCommon = fault.New(fault.TooLarge, "the lines of the patch occur in too many places of the file to find the right ones",
	"give the hunks lines of context that occur seldom, or apply fewer of them at once")

// lineTable finds the lines of a text by their contents.
type lineTable struct {
	seed   maphash.Seed
	starts []int
	at     map[uint64][]int32 // by hash: numbers of lines, counted from 0
}

// table returns the table, built on first use, or nil if there are few hunks or the text is large.
func (p *planner) table() *lineTable {
	if p.lineTable != nil || p.doc.Len() > maxTable {
		return p.lineTable
	}
	hunks := 0
	for i := range p.later {
		if p.later[i].Verb == change.ApplyHunk {
			hunks++
		}
		if hunks == minTabled {
			break
		}
	}
	if hunks < minTabled {
		return nil
	}
	t := &lineTable{seed: maphash.MakeSeed(), at: map[uint64][]int32{}}
	for _, l := range p.doc.LinesFrom(1) {
		hash := maphash.Bytes(t.seed, p.doc.Slice(l.Start, l.Content))
		t.at[hash] = append(t.at[hash], int32(len(t.starts)))
		t.starts = append(t.starts, l.Start)
	}
	p.lineTable = t
	return t
}

// starts yields, in order, the offsets where a hunk's old lines may begin. It finds them by
// the hunk's first or rarest line.
func (p *planner) starts(h *hunk) iter.Seq[int] {
	t := p.table()
	if t == nil {
		return p.linesWith(h.lines[h.old[0]].content())
	}
	var rarest []int32
	before, fewest := 0, math.MaxInt
	for k, i := range h.old {
		if found := t.at[maphash.String(t.seed, h.lines[i].content())]; len(found) < fewest {
			rarest, before, fewest = found, k, len(found)
		}
	}
	return func(yield func(int) bool) {
		for _, n := range rarest {
			if first := int(n) - before; first >= 0 && !yield(t.starts[first]) {
				return
			}
		}
	}
}
