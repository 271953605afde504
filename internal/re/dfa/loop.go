package dfa

import "quarry/internal/re/vec"

// loop is for a state to which nearly all bytes lead back, as after the = of =.*. The bytes
// that leave it are searched for directly, which is 50 times faster than reading byte by
// byte.
type loop struct {
	leaves *vec.ByteSet
	match  bool // each byte that stays was preceded by the end (modeReverse: start) of a match
	misses int  // times it was left early
}

const (
	// After loopBytes in the same state, it is checked for a loop. A search outside of
	// loops pays one comparison per that many bytes.
	loopBytes = 32
	// minLoop of the 256 bytes must stay in a loop.
	minLoop = 128
	// shortLoop bytes don't pay for a jump; after maxMisses of those, the state no longer
	// counts as a loop.
	shortLoop = 16
	maxMisses = 8
	// The smallest and the largest piece that last searches at once.
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
	// The kernel reads forwards: skip whole pieces without such a byte, of growing size
	// while they fit, then smaller ones.
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
