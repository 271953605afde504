package index

import (
	"context"

	"quarry/internal/terms"
)

// writeTerms merges one table of each segment; of selects it.
func (j *joining) writeTerms(ctx context.Context, w *segmentWriter, to *termWriter, of func(*segment) *termTable, workers int) error {
	errs := make([]error, parts)
	err := inParts(workers, func(i int, out *termPart) {
		errs[i] = guard(func() error { j.termPart(i, of, out); return nil })
	}, func(p *termPart) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return w.termLists(to, p)
	})
	for _, e := range errs {
		if e != nil {
			return e
		}
	}
	return err
}

// termPart merges the lists of one part. It panics on damage.
func (j *joining) termPart(i int, of func(*segment) *termTable, out *termPart) {
	out.reset()
	lo, hi := terms.Key(i)<<termPartShift, terms.Key(i+1)<<termPartShift
	cursors := make([]termCursor, len(j.from))
	live := make([]bool, len(j.from))
	for k, h := range j.from {
		cursors[k] = of(h.seg).from(lo)
		for live[k] = cursors[k].next(); live[k] && cursors[k].key < lo; {
			live[k] = cursors[k].next()
		}
	}
	var ids []uint32
	var counts []uint8
	var all postingsByID
	for {
		key := hi
		for k := range cursors {
			if live[k] {
				key = min(key, cursors[k].key)
			}
		}
		if key == hi {
			return
		}
		all.reset()
		for k := range cursors {
			c := &cursors[k]
			if !live[k] || c.key != key {
				continue
			}
			ids, counts = of(j.from[k].seg).read(&c.termEntry, ids[:0], counts[:0])
			live[k] = c.next()
			all.merge(ids, counts, j.number[k])
		}
		if len(all.ids) > 0 {
			out.add(key, all.ids, all.counts, j.docs.n)
		}
	}
}

// postingsByID are documents in order and their counts.
type postingsByID struct {
	ids, spareIDs       []uint32
	counts, spareCounts []uint8
}

func (p *postingsByID) reset() { p.ids, p.counts = p.ids[:0], p.counts[:0] }

// merge adds the documents of another list under their new numbers, which are in
// order. Documents without a new number are dropped.
func (p *postingsByID) merge(ids []uint32, counts []uint8, number []int32) {
	outIDs, outCounts := p.spareIDs[:0], p.spareCounts[:0]
	at := 0
	for i, id := range ids {
		n := number[id]
		if n < 0 {
			continue
		}
		for at < len(p.ids) && p.ids[at] < uint32(n) {
			outIDs, outCounts = append(outIDs, p.ids[at]), append(outCounts, p.counts[at])
			at++
		}
		outIDs, outCounts = append(outIDs, uint32(n)), append(outCounts, counts[i])
	}
	outIDs, outCounts = append(outIDs, p.ids[at:]...), append(outCounts, p.counts[at:]...)
	p.spareIDs, p.spareCounts, p.ids, p.counts = p.ids, p.counts, outIDs, outCounts
}
