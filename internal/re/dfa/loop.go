package dfa

import "quarry/internal/re/vec"

// loop describes a state that nearly all bytes lead back to, such as the state after the = of
// =.*. The bytes that leave the state are searched for directly, which is 50 times faster than
// reading byte by byte.
type loop struct {
	leaves *vec.ByteSet
	match  bool // a match ended (modeReverse: started) before each byte that stays
	misses int  // times the state was left within shortLoop bytes
}

const (
	// After loopBytes bytes in the same state, the state is checked for a loop. Outside of
	// loops a search pays one comparison per that many bytes.
	loopBytes = 32
	// At least minLoop of the 256 bytes must stay in the state.
	minLoop = 128
	// A jump of fewer than shortLoop bytes doesn't pay. After maxMisses such jumps, the state
	// no longer counts as a loop.
	shortLoop = 16
	maxMisses = 8
	// minBackPiece and maxBackPiece limit the size of the pieces that last searches.
	minBackPiece = 64
	maxBackPiece = 8 << 10
)

// loopAt returns the loop of a state, or nil. It doesn't build the loop if that would clear
// the cache.
func (m *machine) loopAt(id uint32) *loop {
	l, known := m.loops[id]
	if !known {
		if m.loops == nil {
			m.loops = map[uint32]*loop{}
		}
		clears := m.clears
		l = m.newLoop(id)
		if m.clears != clears {
			return nil // id is invalid now
		}
		m.loops[id] = l
	}
	if l == nil || l.misses >= maxMisses {
		return nil
	}
	return l
}

func (m *machine) newLoop(id uint32) *loop {
	var entries [256]uint32
	stay := [2]int{} // without and with matchBit
	for _, members := range m.classes.members {
		if len(members) == 0 {
			continue
		}
		e := m.peek(id, members[0])
		if e == rowUnknown {
			if m.full(len(m.p.States)) {
				return nil
			}
			clears := m.clears
			if e = m.build(id, members[0]); m.clears != clears {
				return nil
			}
		}
		for _, b := range members {
			entries[b] = e
		}
		if e&^matchBit == id {
			stay[e&matchBit] += len(members)
		}
	}
	l := &loop{match: stay[1] > stay[0]}
	if max(stay[0], stay[1]) < minLoop {
		return nil
	}
	want := id
	if l.match {
		want |= matchBit
	}
	var leaves [256]bool
	for b, e := range entries {
		leaves[b] = e != want
	}
	l.leaves = vec.NewByteSet(&leaves)
	return l
}

// next returns the offset of the first byte of text at or after i that leaves the loop, or
// the text's length.
func (l *loop) next(text []byte, i int) int {
	j := l.leaves.Find(text, i)
	if j < 0 {
		j = len(text)
	}
	l.judge(j - i)
	return j
}

// last returns the offset of the last byte of text[from:i] that leaves the loop,
// or from-1.
func (l *loop) last(text []byte, from, i int) int {
	j := i - 1
	// The kernel reads forwards. So skip whole pieces that contain no such byte: of growing
	// size while there are any, then smaller ones.
	for size, grow := minBackPiece, true; size >= minBackPiece; {
		if j+1-from >= size && l.leaves.Find(text[:j+1], j+1-size) < 0 {
			if j -= size; grow && size < maxBackPiece {
				size *= 2
			}
			continue
		}
		size, grow = size/2, false
	}
	for j >= from && !l.leaves.Has(text[j]) {
		j--
	}
	l.judge(i - 1 - j)
	return j
}

func (l *loop) judge(n int) {
	if n < shortLoop {
		l.misses++
	} else {
		l.misses = max(0, l.misses-1)
	}
}
