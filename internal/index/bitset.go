package index

import (
	"iter"
	"math/bits"
)

// bitset marks documents of one segment. Copies share memory, so the owner must copy a
// bitset that is in use before it writes to it; see held.
type bitset []uint64

func newBitset(n int) bitset { return make(bitset, (n+63)/64) }

func (b bitset) has(id int) bool { return b[id/64]>>(id%64)&1 == 1 }
func (b bitset) set(id int)      { b[id/64] |= 1 << (id % 64) }

// none reports whether no document of [lo, hi) is marked.
func (b bitset) none(lo, hi int) bool {
	for lo < hi {
		if lo%64 == 0 && hi-lo >= 64 {
			if b[lo/64] != 0 {
				return false
			}
			lo += 64
			continue
		}
		if b.has(lo) {
			return false
		}
		lo++
	}
	return true
}

// all yields the marked documents.
func (b bitset) all() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, w := range b {
			for ; w != 0; w &= w - 1 {
				if !yield(64*i + bits.TrailingZeros64(w)) {
					return
				}
			}
		}
	}
}

func (b bitset) count() int {
	n := 0
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

// held is a segment in use by the index. Its fields are guarded by Index.mu.
type held struct {
	seg *segment
	// dead documents were deleted or have a newer version in a later segment; the
	// manifest lists them. mask contains the dead and the dirty documents.
	dead, mask bitset
	shared     bool // a snapshot uses mask, so copy it before writing
}

func newHeld(s *segment, dead bitset) *held {
	if dead == nil {
		dead = newBitset(s.docs.n)
	}
	return &held{seg: s, dead: dead, mask: append(bitset(nil), dead...)}
}

// text returns the total size of the texts of the live documents.
func (h *held) text() int64 {
	n := h.seg.text
	// Errors of unreadable tables are reported by the searches that use them.
	_ = guard(func() error {
		for id := range h.dead.all() {
			n -= textSize(h.seg.docs.stamp(id), h.seg.docs.flag(id))
		}
		return nil
	})
	return int64(n)
}

func (h *held) own() {
	if h.shared {
		h.mask = append(bitset(nil), h.mask...)
		h.shared = false
	}
}

func (h *held) hide(id int) { h.own(); h.mask.set(id) }

func (h *held) kill(id int) { h.hide(id); h.dead.set(id) }
