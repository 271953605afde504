package index

import (
	"bytes"
	"context"
	"math/bits"
	"slices"

	"quarry/internal/trigram"
)

// tierSize is the number of segments of similar size that are merged, and therefore also the
// ratio of sizes between tiers. Few segments are better, since a search reads all of them; but
// each document is copied once per tier.
const tierSize = 4

// Merge merges small segments of similar size, and rewrites segments in which most
// documents are dead.
func (ix *Index) Merge(ctx context.Context) error {
	if ix.opts.ReadOnly {
		return ErrReadOnly
	}
	ix.writing.Lock()
	defer ix.writing.Unlock()
	for {
		picked := ix.pick()
		if len(picked) == 0 {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := ix.join(ctx, picked); err != nil {
			return err
		}
	}
}

func tier(docs int) int { return (bits.Len(uint(docs)) + 1) / 2 }

// pick selects segments to be merged.
func (ix *Index) pick() []*held {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	tiers := map[int][]*held{}
	for _, h := range ix.segs {
		live := h.seg.docs.n - h.dead.count()
		if live*2 < h.seg.docs.n {
			return []*held{h}
		}
		t := tier(live)
		if h.seg.blocks.n > maxDocs/(2*tierSize) {
			continue // merged, they may exceed the size of a segment
		}
		tiers[t] = append(tiers[t], h)
		if len(tiers[t]) > tierSize {
			return tiers[t]
		}
	}
	return nil
}

// joining is a merge of segments in progress.
type joining struct {
	from   []*held
	dead   []bitset  // dead documents of each segment when the merge began
	number [][]int32 // for each segment, the new numbers of its documents; -1 for dead ones
	blocks [][]int32 // for each segment, the new numbers of its blocks
	docs   docWriter
	origin []origin // the source of each new document
}

// origin is a document of a segment being merged.
type origin struct{ seg, id uint32 }

// join replaces segments by one that contains their live documents.
func (ix *Index) join(ctx context.Context, from []*held) error {
	j := &joining{from: from}
	ix.mu.Lock()
	for _, h := range from {
		j.dead = append(j.dead, slices.Clone(h.dead))
		h.seg.retain()
	}
	ix.mu.Unlock()
	defer func() {
		for _, h := range from {
			h.seg.release()
		}
	}()
	var seg *segment
	err := guard(j.table)
	if err == nil && j.docs.n > 0 {
		seg, err = createSegment(ix.state, ix.newName(), ix.opts.Fields, func(w *segmentWriter) error {
			return guard(func() error { return j.write(ctx, w, ix.opts.Workers) })
		})
	}
	if err != nil {
		ix.recheck(from)
		return err
	}
	return ix.replace(j, seg)
}

// recheck checks segments after an error, and drops the damaged ones.
func (ix *Index) recheck(segs []*held) {
	for _, h := range segs {
		if err := guard(func() error {
			return (&segment{mapping: h.seg.mapping, extractor: h.seg.extractor}).parse(h.seg.mapping.Bytes())
		}); err != nil {
			ix.mu.Lock()
			ix.damage(h, err)
			ix.mu.Unlock()
		}
	}
}

// table merges the document tables.
func (j *joining) table() error {
	type cursor struct {
		i      int
		id, n  int
		reader pathReader
		path   []byte
	}
	var cursors []*cursor
	step := func(c *cursor) bool {
		for c.id++; c.id < c.n; c.id++ {
			c.path = c.reader.next()
			if !j.dead[c.i].has(c.id) {
				return true
			}
		}
		return false
	}
	for i, h := range j.from {
		t := &h.seg.docs
		j.number = append(j.number, unnumbered(t.n))
		j.blocks = append(j.blocks, unnumbered(h.seg.blocks.n))
		c := &cursor{i: i, id: -1, n: t.n, reader: pathReader{t: t}}
		if t.n > 0 {
			c.reader.seek(0)
		}
		if step(c) {
			cursors = append(cursors, c)
		}
	}
	for len(cursors) > 0 {
		best := 0
		for k, c := range cursors {
			if bytes.Compare(c.path, cursors[best].path) < 0 {
				best = k
			}
		}
		c := cursors[best]
		t := &j.from[c.i].seg.docs
		j.number[c.i][c.id] = int32(j.docs.n)
		j.origin = append(j.origin, origin{uint32(c.i), uint32(c.id)})
		blocks := &j.from[c.i].seg.blocks
		starts := blocks.startsOf(c.id)
		first := blocks.first(c.id)
		for k := range len(starts)/8 + 1 {
			j.blocks[c.i][first+k] = int32(j.docs.blocks.n + k)
		}
		j.docs.add(c.path, t.stamp(c.id), t.flag(c.id), starts, t.counted(c.id))
		if !step(c) {
			cursors = slices.Delete(cursors, best, best+1)
		}
	}
	return nil
}

func unnumbered(n int) []int32 {
	numbers := make([]int32, n)
	for i := range numbers {
		numbers[i] = -1
	}
	return numbers
}

// write merges the lists of grams.
func (j *joining) write(ctx context.Context, w *segmentWriter, workers int) error {
	errs := make([]error, parts)
	err := inParts(workers, func(i int, out *part) {
		errs[i] = guard(func() error { return j.part(i, out) })
	}, func(p *part) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return w.lists(p)
	})
	for _, e := range errs {
		if e != nil {
			return e
		}
	}
	if err != nil {
		return err
	}
	_, err = w.tables(&j.docs, streams{
		terms:       func() error { return j.writeTerms(ctx, w, &w.terms, termsOf, workers) },
		definitions: func() error { return j.writeDefs(ctx, w) },
		fields:      func() error { return j.writeFields(w) },
		fieldTerms:  func() error { return j.writeTerms(ctx, w, &w.fieldTerms, fieldTermsOf, workers) },
	})
	return err
}

func (j *joining) part(i int, out *part) error {
	out.reset()
	lo, hi := trigram.Gram(i)<<partShift, trigram.Gram(i+1)<<partShift
	cursors := make([]gramCursor, len(j.from))
	live := make([]bool, len(j.from))
	for k, h := range j.from {
		cursors[k] = h.seg.grams.from(lo)
		for live[k] = cursors[k].next(); live[k] && cursors[k].gram < lo; {
			live[k] = cursors[k].next()
		}
	}
	var ids, one, all, spare []uint32
	for {
		g := hi
		for k := range cursors {
			if live[k] {
				g = min(g, cursors[k].gram)
			}
		}
		if g == hi {
			return nil
		}
		all = all[:0]
		for k := range cursors {
			c := &cursors[k]
			if !live[k] || c.gram != g {
				continue
			}
			seg := j.from[k].seg
			var err error
			if ids, err = seg.listOf(&c.gramEntry).Append(ids[:0], 0, uint32(seg.blocks.n)); err != nil {
				return err
			}
			live[k] = c.next()
			one = one[:0]
			for _, id := range ids {
				if n := j.blocks[k][id]; n >= 0 {
					one = append(one, uint32(n))
				}
			}
			spare = trigram.Union(spare[:0], all, one)
			all, spare = spare, all
		}
		if len(all) > 0 {
			out.add(g, all, j.docs.blocks.n)
		}
	}
}

// replace replaces the merged segments by seg.
func (ix *Index) replace(j *joining, seg *segment) error {
	var fresh *held
	ix.mu.Lock()
	if seg != nil {
		dead := newBitset(seg.docs.n)
		j.carry(func(h *held, id, n int) {
			if h.dead.has(id) {
				dead.set(n)
			}
		})
		fresh = newHeld(seg, dead)
	}
	ix.mu.Unlock()
	keep := func(h *held) *held {
		if slices.Contains(j.from, h) {
			return nil
		}
		return h
	}
	if err := ix.writeManifest(keep, fresh, nil); err != nil {
		ix.discard(seg)
		return err
	}
	ix.mu.Lock()
	j.carry(func(h *held, id, n int) { // documents that died during the merge
		if h.dead.has(id) {
			fresh.kill(n)
		} else if h.mask.has(id) {
			fresh.hide(n)
		}
	})
	for _, c := range ix.dirty {
		if k := slices.Index(j.from, c.in); c.in != nil && k >= 0 {
			n := j.number[k][c.id]
			if c.in = nil; n >= 0 {
				c.in, c.id = fresh, int(n)
			}
		}
	}
	var left []*held
	var names []string
	for _, h := range ix.segs {
		if keep(h) != nil {
			left = append(left, h)
			continue
		}
		names = append(names, h.seg.name)
		h.seg.release()
	}
	if fresh != nil {
		left = append(left, fresh)
	}
	ix.segs = left
	ix.forgetSnapshot()
	ix.mu.Unlock()
	if err := remove(ix.state, names...); err != nil {
		ix.log.Warn("index: can't remove old segments", "err", err)
	}
	return nil
}

// carry calls visit for the documents that were copied.
func (j *joining) carry(visit func(h *held, id, n int)) {
	for k, h := range j.from {
		for id, n := range j.number[k] {
			if n >= 0 {
				visit(h, id, int(n))
			}
		}
	}
}
