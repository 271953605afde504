package vec

import "encoding/binary"

// hashed searches for any number of literals in pure Go, after Wu and Manber.
//
// A window as long as the shortest literal moves over the text. The last bytes
// of the window, hashed, tell how far the window can move before they could be
// part of the beginning of any literal. Where it cannot move the first and last
// bytes of the window select the literals to compare.
type hashed struct {
	window int // length, 1 to 32
	block  uint
	fold   uint32   // 0x20 in each byte when folding: '@' passes for '`' until compared
	bits   uint     // log2 of the size of skip
	skip   []uint8  // by hash of the block
	keys   uint     // log2 of the number of keys
	slot   []uint32 // order[slot[k]:slot[k+1]] are the literals of key k
	order  []uint32 // positions in litSet.lits, ascending in each slot
}

// maxWindow is as far as the window may move; it fits uint8.
const maxWindow = 32

func newHashed(s *litSet) *hashed {
	h := &hashed{window: min(s.minLen, maxWindow), bits: 12, keys: 4}
	if s.fold {
		h.fold = 0x20202020
	}
	// Blocks of three bytes tell more apart, of two let the window go further
	// by one. 32 KiB for big sets still fit the first cache.
	h.block = uint(min(h.window, 2))
	if len(s.lits) > 32 && h.window > 2 {
		h.block, h.bits = 3, 15
	}
	for 1<<h.keys < 4*len(s.lits) && h.keys < 20 {
		h.keys++
	}
	h.skip = make([]uint8, 1<<h.bits)
	for i := range h.skip {
		h.skip[i] = uint8(h.window - int(h.block) + 1)
	}
	h.slot = make([]uint32, 1<<h.keys+1)
	keyOf := make([]uint32, len(s.lits))
	for i := range s.lits {
		text := s.lits[i].text[:h.window]
		for end := int(h.block); end <= h.window; end++ {
			p := &h.skip[h.hash(h.load(text, end))]
			*p = min(*p, uint8(h.window-end))
		}
		keyOf[i] = h.key(h.load(text, h.window), h.head(text))
		h.slot[keyOf[i]+1]++
	}
	for k := range h.slot[1:] {
		h.slot[k+1] += h.slot[k]
	}
	h.order = make([]uint32, len(s.lits))
	next := append([]uint32(nil), h.slot...)
	for i, k := range keyOf {
		h.order[next[k]] = uint32(i)
		next[k]++
	}
	return h
}

// load gives the block of b that ends at end.
func (h *hashed) load(b []byte, end int) uint32 {
	v := uint32(b[end-1])
	if h.block > 1 {
		v = v<<8 | uint32(b[end-2])
	}
	if h.block > 2 {
		v = v<<8 | uint32(b[end-3])
	}
	return v | h.fold>>(8*(4-h.block))
}

func (h *hashed) hash(v uint32) uint32 { return v * 0x9e3779b1 >> (32 - h.bits) }

// head gives the first bytes of a window, up to four.
func (h *hashed) head(b []byte) uint32 {
	if h.window >= 4 {
		return binary.LittleEndian.Uint32(b) | h.fold
	}
	return 0 // the block is the window or all but one byte of it
}

func (h *hashed) key(block, head uint32) uint32 {
	return (block*0x85ebca6b ^ head) * 0x9e3779b1 >> (32 - h.keys)
}

// find is Teddy.Find. The set has no empty literal.
func (h *hashed) find(hay []byte, from int, s *litSet) (pos, lit int) {
	credit := s.credit() - 4*from
	for end := from + h.window; end <= len(hay); {
		v := h.load(hay, end)
		if skip := h.skip[h.hash(v)]; skip != 0 {
			end += int(skip)
			continue
		}
		start := end - h.window
		k := h.key(v, h.head(hay[start:]))
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
		end++
	}
	return -1, -1
}
