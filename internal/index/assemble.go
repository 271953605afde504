package index

import (
	"encoding/binary"
	"runtime/debug"

	"quarry/internal/crew"
	"quarry/internal/trigram"
)

// assembly makes a segment from the runs of a build.
type assembly struct {
	runs    []run
	workers int
	blocks  int   // number of blocks in the segment
	base    []int // for each job, the number of blocks read before its own
	// number maps the blocks that were read to those of the segment, because some are
	// dropped. It is nil if none are.
	number []int32
}

// runCursor reads the grams in one part of a run.
type runCursor struct {
	base uint32 // first block
	data []byte
	gram int64
	n    int // number of postings of gram
}

func (c *runCursor) next() bool {
	if len(c.data) == 0 {
		return false
	}
	delta, k := binary.Uvarint(c.data)
	n, m := binary.Uvarint(c.data[k:])
	c.data = c.data[k+m:]
	c.gram += int64(delta)
	c.n = int(n)
	return true
}

// take appends the blocks that contain the current gram.
func (c *runCursor) take(ids []uint32) []uint32 {
	data, id := c.data, c.base
	if c.n > fewInRun {
		size, k := binary.Uvarint(data)
		at := len(ids)
		// This process made the list, so it needs no check.
		ids, _ = trigram.OpenList(data[k:], c.n, stretch).Append(ids, 0, stretch)
		for i := range ids[at:] {
			ids[at+i] += id
		}
		c.data = data[k+int(size):]
		return ids
	}
	at := 0
	for range c.n {
		gap := uint32(data[at])
		at++
		if gap >= 0x80 {
			gap = gap&0x7F | uint32(data[at])<<7
			at++
		}
		id += gap
		ids = append(ids, id)
		id++
	}
	c.data = data[at:]
	return ids
}

// part merges the lists of all runs for the grams of part i.
func (a *assembly) part(i int, out *part) {
	out.reset()
	var cursors []*runCursor
	for j := range a.runs {
		r := &a.runs[j]
		c := &runCursor{base: uint32(a.base[r.job] + r.skip), data: r.parts[i], gram: int64(i) << partShift}
		r.parts[i] = nil // free the memory
		if c.next() {
			cursors = append(cursors, c)
		}
	}
	var ids []uint32
	for len(cursors) > 0 {
		g := cursors[0].gram
		for _, c := range cursors[1:] {
			g = min(g, c.gram)
		}
		ids = ids[:0]
		live := cursors[:0]
		for _, c := range cursors {
			if c.gram == g {
				ids = c.take(ids)
				if !c.next() {
					continue
				}
			}
			live = append(live, c)
		}
		cursors = live
		if a.number != nil {
			ids = a.renumber(ids)
		}
		if len(ids) > 0 {
			out.add(trigram.Gram(g), ids, a.blocks)
		}
	}
}

func (a *assembly) renumber(ids []uint32) []uint32 {
	kept := ids[:0]
	for _, id := range ids {
		if n := a.number[id]; n >= 0 {
			kept = append(kept, uint32(n))
		}
	}
	return kept
}

// write writes all lists in order. A few parts at a time are made in parallel.
func (a *assembly) write(w *segmentWriter) error {
	return inParts(a.workers, a.part, w.lists)
}

// inParts fills the parts on several goroutines and calls pass for each in order.
func inParts[P any](workers int, fill func(i int, p *P), pass func(*P) error) error {
	wave := make([]P, max(1, workers))
	for from := 0; from < parts; from += len(wave) {
		n := min(len(wave), parts-from)
		var wg crew.Group
		for i := range n {
			wg.Go(func() { fill(from+i, &wave[i]) })
		}
		if err := wg.WaitErr(); err != nil {
			return err
		}
		for i := range n {
			if err := pass(&wave[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// runsWorthFreeing is the size of runs above which their memory is worth a garbage
// collection.
const runsWorthFreeing = 32 << 20

// finish writes the segment of the first n jobs and frees the runs. The runs are freed
// before the segment is opened, because opening maps all of it: 90 MB for the Linux tree.
func (b *build) finish(w *segmentWriter, n int) error {
	err := b.create(w, n)
	b.runs, b.termRuns, b.defRuns, b.fieldRuns, b.fieldTermRuns = nil, nil, nil, nil, nil
	if b.held.Load() >= runsWorthFreeing {
		debug.FreeOSMemory()
	}
	return err
}

// create writes the segment of the first n jobs of a build.
func (b *build) create(w *segmentWriter, n int) error {
	docs := &docWriter{}
	a := &assembly{runs: b.runs, workers: b.workers, base: make([]int, n)}
	made, kept := 0, 0
	for i := range n {
		out := &b.outcomes[i]
		a.base[i] = made
		count, dropped, starts := out.blocks()
		made, kept = made+dropped+count, kept+count
		if out.state == indexed {
			docs.add([]byte(b.jobs[i].path), out.stamp, out.flags, starts, out.parts)
		}
	}
	if kept < made {
		a.number = make([]int32, 0, made)
		next := int32(0)
		for i := range n {
			count, dropped, _ := b.outcomes[i].blocks()
			for range dropped {
				a.number = append(a.number, -1)
			}
			for range count {
				a.number = append(a.number, next)
				next++
			}
		}
	}
	a.blocks = docs.blocks.n
	if err := a.write(w); err != nil {
		return err
	}
	list := func(to *termWriter, runs []termRun) error {
		return inParts(b.workers, b.termAssembly(runs, n, docs.n).part, func(p *termPart) error { return w.termLists(to, p) })
	}
	_, err := w.tables(docs, streams{
		terms:       func() error { return list(&w.terms, b.termRuns) },
		definitions: func() error { return b.defs(w, n, docs.n) },
		fields:      func() error { return b.fields(w, n) },
		fieldTerms:  func() error { return list(&w.fieldTerms, b.fieldTermRuns) },
	})
	return err
}
