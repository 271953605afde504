package index

import (
	"math"
	"slices"
	"sync"
	"time"

	"quarry/internal/trigram"
)

// Tally counts the lines of each document of a segment that match a pattern. To list the files with most
// matching lines, all candidates have to be read: on Linux 6.1, 46,000 files for "return". The counts depend
// on the pattern and the contents alone, and a document whose file has changed is masked for good. So a
// segment remembers the tallies of the last patterns, and the next page, or the same question after an edit,
// reads only new files.
type Tally struct {
	values []uint16
	in     span // of the documents whose grams were looked up
	// Every reports that grams exclude nothing: every document could match.
	Every bool
}

// The values of a tally. Larger ones are the number of lines, from counted.
const (
	unread = iota // not counted yet
	never         // the grams exclude it
	counted
	mostCounted = math.MaxUint16 - counted
)

// Lines returns the number of matching lines of a document. read is false for a document that the grams
// exclude; known is false if its lines have not been counted.
func (t *Tally) Lines(id int) (n int, read, known bool) {
	v := t.values[id]
	return int(max(v, counted)) - counted, v >= counted, v != unread
}

// Set records the number of matching lines of a document. Very large numbers are not kept.
func (t *Tally) Set(id, n int) {
	if n <= mostCounted {
		t.values[id] = uint16(counted + n)
	}
}

// Clone returns a copy that may be changed.
func (t *Tally) Clone() *Tally { return &Tally{slices.Clone(t.values), t.in, t.Every} }

const (
	// maxTallies bounds the tallies cached for a segment, and maxTallyBytes their total
	// size; one is kept in any case.
	maxTallies    = 16
	maxTallyBytes = 4 << 20
)

// tallies are the cached tallies of a segment, the most recently used one last. They are
// immutable.
type tallies struct {
	mu   sync.Mutex
	kept []keptTally
}

type keptTally struct {
	key string
	t   *Tally
}

// Tally returns the remembered tally of a pattern for the folder, or nil. The key names the pattern and
// everything else a count depends on. The caller must not change the tally.
func (c *CountedView) Tally(key string) *Tally {
	had := &c.v.seg.tallies
	had.mu.Lock()
	defer had.mu.Unlock()
	i := slices.IndexFunc(had.kept, func(k keptTally) bool { return k.key == key && k.t.in.lo <= c.in.lo && c.in.hi <= k.t.in.hi })
	if i < 0 {
		return nil
	}
	k := had.kept[i]
	had.kept = append(slices.Delete(had.kept, i, i+1), k)
	return k.t
}

// Keep caches a tally, which must not change any more.
func (c *CountedView) Keep(key string, t *Tally) {
	had := &c.v.seg.tallies
	had.mu.Lock()
	defer had.mu.Unlock()
	had.kept = slices.DeleteFunc(had.kept, func(k keptTally) bool { return k.key == key })
	most := min(maxTallies, max(1, maxTallyBytes/max(1, 2*len(t.values))))
	if over := len(had.kept) + 1 - most; over > 0 {
		had.kept = slices.Delete(had.kept, 0, over)
	}
	had.kept = append(had.kept, keptTally{key, t})
}

// Blocks are the blocks of a view's documents that could match.
type Blocks struct {
	c  *CountedView
	in []uint32
}

// NewTally starts a tally in which the documents of the folder excluded by their grams are
// known. The need has to be satisfied within one line.
func (c *CountedView) NewTally(a *Ask) (t *Tally, b *Blocks, err error) {
	t, b = &Tally{values: make([]uint16, c.Documents()), in: c.in}, &Blocks{c: c}
	need := trigram.From(a.Need)
	err = c.guard(func() error {
		seg := c.v.seg
		e := evaluation{seg: seg, lo: uint32(seg.blocks.first(c.in.lo)), hi: uint32(seg.blocks.first(c.in.hi))}
		blocks, all, err := e.eval(&need, nil, true)
		if err != nil {
			return err
		}
		if t.Every = all; !all {
			b.in = blocks
			ids := seg.with(seg.blocks.documents(make([]uint32, 0, len(blocks)), blocks), a.Also, c.in)
			for id := c.in.lo; id < c.in.hi; id++ {
				if len(ids) > 0 && int(ids[0]) == id {
					ids = ids[1:]
				} else {
					t.values[id] = never
				}
			}
		}
		return seg.untouched()
	})
	return t, b, err
}

// Parts returns the only parts of a document that could match; nil is all of it.
func (b *Blocks) Parts(id int) []Part {
	if b.in == nil || b.c.Flags(id)&AlwaysScan != 0 {
		return nil
	}
	return b.c.v.seg.blocks.parts(id, b.c.Stamp(id).Size, b.in)
}

// Stamp returns the stamp of a document, or zero, which no file has, if it can't be read.
func (c *CountedView) Stamp(id int) (s Stamp) {
	c.guard(func() error {
		s = c.v.seg.docs.stamp(id)
		return nil
	})
	return s
}

// Modified returns the modification time in a stamp.
func (s Stamp) Modified() time.Time {
	if s.MTime == 0 {
		return time.Time{}
	}
	return time.Unix(0, s.MTime)
}

// Span returns the documents of the folder: from lo up to hi.
func (c *CountedView) Span() (lo, hi int) { return c.in.lo, c.in.hi }

// Untouched reports an error if the segment's file has changed on the disk.
func (c *CountedView) Untouched() error { return c.guard(c.v.seg.untouched) }
