package index

import (
	"math"
	"slices"
	"sync"
	"time"

	"quarry/internal/trigram"
)

// Tally stores how many lines of each document of a segment match a pattern. To list the files
// with the most matching lines, all candidates must be read: in Linux 6.1, 46,000 files for
// "return". The counts depend only on the pattern and the contents, and a document whose file
// has changed is never used again. So a segment caches the tallies of recent patterns. The next
// page, or the same query after an edit, then reads only new files.
type Tally struct {
	values []uint16
	in     span // the documents whose grams were looked up
	// Every reports that the grams exclude nothing: every document could match.
	Every bool
}

// Values of a tally. Larger values are the number of lines plus counted.
const (
	unread = iota // not yet counted
	never         // excluded by its grams
	counted
	mostCounted = math.MaxUint16 - counted
)

// Lines returns the number of matching lines of a document. read is false if the grams exclude
// the document. known is false if its lines have not been counted.
func (t *Tally) Lines(id int) (n int, read, known bool) {
	v := t.values[id]
	return int(max(v, counted)) - counted, v >= counted, v != unread
}

// Set records the number of matching lines of a document. Very large numbers are not
// stored.
func (t *Tally) Set(id, n int) {
	if n <= mostCounted {
		t.values[id] = uint16(counted + n)
	}
}

// Clone returns a copy that may be modified.
func (t *Tally) Clone() *Tally { return &Tally{slices.Clone(t.values), t.in, t.Every} }

const (
	// maxTallies limits the tallies cached for a segment, and maxTallyBytes limits their
	// total size. At least one is kept.
	maxTallies    = 16
	maxTallyBytes = 4 << 20
)

// tallies is the cache of a segment's tallies, the most recently used one last. Cached
// tallies are immutable.
type tallies struct {
	mu   sync.Mutex
	kept []keptTally
}

type keptTally struct {
	key string
	t   *Tally
}

// Tally returns the cached tally of a pattern for the folder, or nil. key identifies the
// pattern and everything else that affects counts. The caller must not modify the tally.
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

// Keep caches a tally. It must not be modified afterwards.
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

// NewTally starts a tally for the documents of the folder, in which those excluded by
// their grams are marked. The need must be satisfied within a single line.
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

// Parts returns the only parts of a document that could match. nil means the whole
// document.
func (b *Blocks) Parts(id int) []Part {
	if b.in == nil || b.c.Flags(id)&AlwaysScan != 0 {
		return nil
	}
	return b.c.v.seg.blocks.parts(id, b.c.Stamp(id).Size, b.in)
}

// Stamp returns the stamp of a document. If it can't be read, Stamp returns the zero
// stamp, which no file has.
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

// Span returns the range of documents in the folder, from lo up to but excluding hi.
func (c *CountedView) Span() (lo, hi int) { return c.in.lo, c.in.hi }

// Untouched returns an error if the segment's file has been modified.
func (c *CountedView) Untouched() error { return c.guard(c.v.seg.untouched) }
