// Package backtrack finds matches and groups in short texts by backtracking: it tries one
// alternative after the other.
//
// It gives the same answers as package pike in fewer steps, since it needs no sets of states
// and updates positions in place. A bit for each offset and each state where two paths can
// meet prevents trying anything twice, so time and memory are bounded by states times bytes.
// Fits says whether a text is short enough for that.
package backtrack

import (
	"quarry/internal/re/nfa"
)

// maxBits limits the bit set to 256 KiB. The part that a text needs is cleared for each
// search.
const maxBits = 256 << 10 * 8

// Engine is a program prepared for backtracking. It is immutable and shared.
type Engine struct {
	p *nfa.Prog
	// mark[id] numbers the states with more than one incoming edge, -1 for others. The others
	// need no bit: their only predecessor is entered at most once at an offset, and so are
	// they. Every loop has a marked state.
	mark   []int32
	marks  int
	unions *unions
}

// New prepares a program that was compiled without Reverse.
func New(p *nfa.Prog) *Engine {
	e := &Engine{p: p, mark: make([]int32, len(p.States))}
	into := make([]uint8, len(p.States))
	enter := func(id nfa.ID) { into[id] = min(into[id]+1, 2) }
	enter(p.Start)
	for i := range p.States {
		s := &p.States[i]
		switch s.Op {
		case nfa.OpRange, nfa.OpLook, nfa.OpCapture:
			enter(s.A)
		case nfa.OpSplit:
			enter(s.A)
			enter(s.B)
		case nfa.OpUnion:
			for _, id := range p.Alts[s.A:s.B] {
				enter(id)
			}
		case nfa.OpSparse:
			// At a given offset only one of a state's edges is taken.
			last := ^nfa.ID(0)
			for _, t := range p.Trans[s.A:s.B] {
				if t.Next != last {
					enter(t.Next)
					last = t.Next
				}
			}
		}
	}
	for i, n := range into {
		e.mark[i] = -1
		if n > 1 {
			e.mark[i] = int32(e.marks)
			e.marks++
		}
	}
	e.unions = newUnions(p)
	return e
}

// Fits reports whether a search of n bytes is within the limits.
func (e *Engine) Fits(n int) bool {
	return n >= 0 && n < maxBits && (n+1)*e.marks <= maxBits
}

// Cache is the scratch of one search. The zero value is ready. It must not be used
// concurrently.
type Cache struct {
	seen  []uint64
	stack []frame
}

// frame is a state to try at an offset or, with slot >= 0, a position to restore.
type frame struct {
	at   int
	id   nfa.ID
	slot int32
}

// Find searches hay[from:to], with assertions seeing all of hay, and fills slots like
// pike.Cache.Find. The caller must have checked Fits(to-from); for a longer text ok is
// false.
func (c *Cache) Find(e *Engine, hay []byte, from, to int, anchored bool, slots []int) (match, ok bool) {
	if from < 0 || to > len(hay) || from > to {
		return false, true
	}
	if !e.Fits(to - from) {
		return false, false
	}
	for {
		start, end, found := c.find(e, hay, from, to, anchored, slots)
		if !found {
			return false, true
		}
		if start != end || !e.p.UTF8 || !nfa.SplitsRune(hay, start) {
			if len(slots) >= 2 {
				slots[0], slots[1] = start, end
			}
			return true, true
		}
		if anchored || end >= to {
			return false, true
		}
		from = end + 1
	}
}

func (c *Cache) find(e *Engine, hay []byte, from, to int, anchored bool, slots []int) (start, end int, found bool) {
	p := e.p
	if p.AnchoredStart && from > 0 {
		return 0, 0, false
	}
	anchored = anchored || p.AnchoredStart
	for i := range slots {
		slots[i] = -1
	}
	words := ((to-from+1)*e.marks + 63) / 64
	if cap(c.seen) < words {
		c.seen = make([]uint64, words)
	}
	c.seen = c.seen[:words]
	clear(c.seen)
	// Bits are kept from one start to the next: whatever failed once fails again.
	for at := from; at <= to; at++ {
		if !p.Nullable {
			for at < to && !p.First[hay[at]] && !anchored {
				at++
			}
			if at == to {
				return 0, 0, false
			}
		}
		if end, ok := c.try(e, hay[:to], hay, from, at, slots); ok {
			return at, end, true
		}
		if anchored {
			break
		}
	}
	return 0, 0, false
}

// try searches for a match that starts at offset at. text is hay up to the end of the
// search.
func (c *Cache) try(e *Engine, text, hay []byte, from, at int, slots []int) (end int, ok bool) {
	p := e.p
	c.stack = append(c.stack[:0], frame{at: at, id: p.Start, slot: -1})
	for len(c.stack) > 0 {
		f := c.stack[len(c.stack)-1]
		c.stack = c.stack[:len(c.stack)-1]
		if f.slot >= 0 {
			slots[f.slot] = f.at
			continue
		}
		id, at := f.id, f.at
	way:
		for {
			if k := e.mark[id]; k >= 0 {
				bit := (at-from)*e.marks + int(k)
				if c.seen[bit>>6]&(1<<(bit&63)) != 0 {
					break
				}
				c.seen[bit>>6] |= 1 << (bit & 63)
			}
			s := &p.States[id]
			switch s.Op {
			case nfa.OpMatch:
				return at, true
			case nfa.OpRange:
				if at >= len(text) || text[at] < s.Lo || text[at] > s.Hi {
					break way
				}
				id = s.A
				at++
			case nfa.OpSparse:
				if at >= len(text) {
					break way
				}
				next, ok := p.Next(s, text[at])
				if !ok {
					break way
				}
				id = next
				at++
			case nfa.OpSplit:
				c.stack = append(c.stack, frame{at: at, id: s.B, slot: -1})
				id = s.A
			case nfa.OpUnion:
				alts := e.unions.ways(p, id, text, at)
				if len(alts) == 0 {
					break way
				}
				for i := len(alts) - 1; i > 0; i-- {
					c.stack = append(c.stack, frame{at: at, id: alts[i], slot: -1})
				}
				id = alts[0]
			case nfa.OpLook:
				if !nfa.Holds(s.Look, hay, at) {
					break way
				}
				id = s.A
			case nfa.OpCapture:
				if i := int(s.B); i < len(slots) {
					c.stack = append(c.stack, frame{at: slots[i], slot: int32(i)})
					slots[i] = at
				}
				id = s.A
			default:
				break way
			}
		}
	}
	return 0, false
}
