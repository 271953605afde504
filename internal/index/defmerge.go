package index

import (
	"bytes"
	"context"

	"quarry/internal/splice"
)

// joinedCursor reads definitions from a segment that is merged, with the numbers of the
// new segment.
type joinedCursor struct {
	defCursor
	stopped    func() error
	number     []int32
	containers []uint32
	kept       []definition
}

func (c *joinedCursor) next() bool {
	for c.stopped() == nil && c.defCursor.next() {
		c.kept = c.kept[:0]
		for _, d := range c.list {
			if n := c.number[d.doc]; n >= 0 {
				d.doc = uint32(n)
				if d.container > 0 {
					d.container = c.containers[d.container-1]
				}
				c.kept = append(c.kept, d)
			}
		}
		if len(c.kept) > 0 {
			return true
		}
	}
	return false
}

func (c *joinedCursor) entry() (name, key []byte, list []definition) { return c.name, c.key, c.kept }

// writeDefs merges the definitions. It panics on damage.
func (j *joining) writeDefs(ctx context.Context, w *segmentWriter) error {
	var lists [][]string
	for _, h := range j.from {
		t := &h.seg.defs.containers
		list := make([]string, 0, t.n)
		r := pathReader{t: t}
		for i := range t.n {
			r.seek(i)
			list = append(list, string(h.seg.defs.code.appendText(nil, r.next())))
		}
		lists = append(lists, list)
	}
	all, numbers := sortedContainers(lists)
	err := w.definitions(j.docs.n, all, func() []defSource {
		var sources []defSource
		for i, h := range j.from {
			sources = append(sources, &joinedCursor{defCursor: defCursor{t: &h.seg.defs}, stopped: ctx.Err, number: j.number[i], containers: numbers[i]})
		}
		return sources
	})
	if err == nil {
		err = ctx.Err()
	}
	return err
}

func (c *joinedCursor) size() int { return c.t.n }

// codeOf makes a code for the names in several sources from samples. A sample is a row of
// a few consecutive names. The number of samples from a source is proportional to its
// size.
func codeOf(sources []defSource) *nameCode {
	const row, each = 8, 8 // names in a row, and the estimated bytes of a name that differ from the previous one
	total := 0
	if len(sources) > 64 { // with many runs, every eighth is enough
		some := sources[:0:0]
		for i := 0; i < len(sources); i += 8 {
			some = append(some, sources[i])
		}
		sources = some
	}
	for _, s := range sources {
		total += s.size()
	}
	if total < trainFrom {
		return newNameCode(nil)
	}
	gap := max(row, total/(trainSamples/each)*row)
	var samples [][]byte
	n := 0
	var last []byte
	for _, s := range sources {
		for ; s.next(); n++ {
			at := n % gap
			if at >= row {
				continue
			}
			name, _, _ := s.entry()
			if at > 0 {
				samples = append(samples, bytes.Clone(name[splice.Prefix(name, last):]))
			}
			last = append(last[:0], name...)
		}
	}
	return trainCode(samples)
}
