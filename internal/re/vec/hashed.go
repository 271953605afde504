package vec

import (
	"encoding/binary"
	"slices"
)

// hashed searches for any number of literals in pure Go, with the algorithm of Wu and Manber.
//
// A window as long as the shortest literal (at most maxWindow) moves over the text. A hash of
// the window's last bytes, the block, tells how far the window can move before that block
// could be in the first bytes of a literal. Where the window can't move, its first and last
// bytes select the literals to compare.
type hashed struct {
	window int // length, 1 to 32
	block  uint
	fold   uint32        // 0x20 in each byte if case is ignored: '@' then passes for '`' until the literals are compared
	skip   [1 << 15]byte // by hash of the block; this size still fits the first-level cache
	keys   uint          // log2 of the number of keys
	slot   []uint32      // order[slot[k]:slot[k+1]] are the literals of key k
	order  []uint32      // positions in litSet.lits, ascending in each slot
}

// maxWindow is the longest window, so that a skip fits in a byte.
const maxWindow = 32

func newHashed(s *litSet) *hashed {
	h := &hashed{window: min(s.minLen, maxWindow), keys: 4}
	if s.fold {
		h.fold = 0x20202020
	}
	// Blocks of three bytes are more selective; with two, the window can move one byte further.
	h.block = uint(min(h.window, 2))
	if len(s.lits) > 32 && h.window > 2 {
		h.block = 3
	}
	for 1<<h.keys < 4*len(s.lits) && h.keys < 20 {
		h.keys++
	}
	for i := range h.skip {
		h.skip[i] = byte(h.window - int(h.block) + 1)
	}
	h.slot = make([]uint32, 1<<h.keys+1)
	keyOf := make([]uint32, len(s.lits))
	for i := range s.lits {
		text := s.lits[i].text[:h.window]
		for end := int(h.block); end <= h.window; end++ {
			p := &h.skip[hash(h.load(text, end))]
			*p = min(*p, byte(h.window-end))
		}
		keyOf[i] = h.key(h.load(text, h.window), h.head(text))
		h.slot[keyOf[i]+1]++
	}
	for k := range h.slot[1:] {
		h.slot[k+1] += h.slot[k]
	}
	h.order = make([]uint32, len(s.lits))
	next := slices.Clone(h.slot)
	for i, k := range keyOf {
		h.order[next[k]] = uint32(i)
		next[k]++
	}
	return h
}

// load returns the block that ends before b[end], in the high bytes of a little-endian word.
func (h *hashed) load(b []byte, end int) uint32 {
	v := uint32(b[end-1]) << 24
	if h.block > 1 {
		v |= uint32(b[end-2]) << 16
	}
	if h.block > 2 {
		v |= uint32(b[end-3]) << 8
	}
	return (v | h.fold) >> (32 - 8*h.block)
}

func hash(v uint32) uint32 { return v * 0x9e3779b1 >> (32 - 15) }

// head returns the first four bytes of b, or 0 if the window is shorter.
func (h *hashed) head(b []byte) uint32 {
	if h.window >= 4 {
		return binary.LittleEndian.Uint32(b) | h.fold
	}
	return 0
}

func (h *hashed) key(block, head uint32) uint32 {
	return (block*0x85ebca6b ^ head) * 0x9e3779b1 >> (32 - h.keys)
}

// find is Teddy.Find for a set without an empty literal.
func (h *hashed) find(hay []byte, from int, s *litSet) (pos, lit int) {
	credit := s.credit() - 4*from
	for end := from + h.window; end <= len(hay); end++ {
		if h.window >= 4 {
			end = h.advance(hay, end)
		} else {
			end = h.advanceNarrow(hay, end)
		}
		if end > len(hay) {
			break
		}
		start := end - h.window
		k := h.key(h.load(hay, end), h.head(hay[start:]))
		for _, i := range h.order[h.slot[k]:h.slot[k+1]] {
			l := &s.lits[i]
			if l.at(hay, start) {
				return start, l.index
			}
			credit -= l.cost()
		}
		if credit+4*start < 0 {
			return s.automaton().find(hay, start+1, s)
		}
	}
	return -1, -1
}

// advance returns the next end of the window, at or after end, from which the window can't move on.
func (h *hashed) advance(hay []byte, end int) int {
	shift, fold := 32-8*h.block, h.fold
	for uint(end) <= uint(len(hay)) && end >= 4 {
		v := (binary.LittleEndian.Uint32(hay[end-4:end]) | fold) >> (shift & 31)
		skip := h.skip[hash(v)]
		if skip == 0 {
			break
		}
		end += int(skip)
	}
	return end
}

// advanceNarrow is advance for windows under four bytes. It steps by one byte, because waiting
// for the skip would cost more time than the skip saves.
func (h *hashed) advanceNarrow(hay []byte, end int) int {
	if h.block == 2 && end >= 2 {
		fold := h.fold >> 16
		text := hay[end-2:]
		for i := 0; i+2 <= len(text); i++ {
			if h.skip[hash(uint32(binary.LittleEndian.Uint16(text[i:]))|fold)] == 0 {
				return end + i
			}
		}
		return len(hay) + 1
	}
	for end <= len(hay) && h.skip[hash(h.load(hay, end))] != 0 {
		end++
	}
	return end
}
