// Package pike simulates an automaton exactly: all threads advance together, in order of preference.
//
// It is the reference for every other engine: its result is the leftmost match that the
// pattern prefers, with its groups, for any pattern, assertion and text. Time is at most
// states times bytes, and a warm Cache allocates nothing. It is slow (tens of MB/s), so it
// decides only what the faster engines can't.
package pike

import (
	"quarry/internal/re/nfa"
)

// Input defines a search.
type Input struct {
	// Hay is the text that assertions see. Matches must be in Hay[From:To].
	Hay      []byte
	From, To int

	// Anchored requires the match to start at From.
	Anchored bool

	// Earliest stops at the first position where some match is known to end, rather than
	// at the end of the preferred one.
	Earliest bool

	// Done, if set, is called after every 4 KiB or pollSteps thread steps, and once more at the end.
	// It gets the bytes and thread steps since the last call. If it returns true, the search gives up.
	Done func(bytes, steps int) bool
}

// pollSteps is the number of thread steps between two calls of Done. With thousands of live
// threads 4 KiB take a second.
const pollSteps = 1 << 20

// pollBytes is the number of bytes between two calls of Done. At 10 MB/s, the slowest speed
// seen for patterns with hundreds of live threads, that is every 0.4 ms.
const pollBytes = 4096

// Result is the outcome of a search.
type Result uint8

const (
	NoMatch Result = iota
	Match
	Cancelled // Done returned true; nothing is known
)

// Cache is the scratch of one search. The zero value is ready; it grows to fit the largest
// program used with it. It must not be used concurrently.
type Cache struct {
	cur, next threads
	stack     []frame
	row       []int // positions of the current thread
}

// threads is an ordered set of states, each with its row of positions.
type threads struct {
	dense  []nfa.ID // in order of preference
	sparse []uint32 // sparse[id] is id's index in dense, if dense agrees
	rows   []int    // width positions for each state id
}

func (t *threads) has(id nfa.ID) bool {
	i := t.sparse[id]
	return int(i) < len(t.dense) && t.dense[i] == id
}

func (t *threads) add(id nfa.ID) {
	t.sparse[id] = uint32(len(t.dense))
	t.dense = append(t.dense, id)
}

// frame is either a state to follow or, with slot >= 0, a position to restore once the frames
// above it on the stack are done.
type frame struct {
	id   nfa.ID
	slot int32
	old  int
}

func (t *threads) fit(states, width int) {
	if len(t.sparse) < states {
		t.sparse = make([]uint32, states)
		t.dense = make([]nfa.ID, 0, states)
	}
	if len(t.rows) < states*width {
		t.rows = make([]int, states*width)
	}
	t.dense = t.dense[:0]
}

// Find searches and, on Match, fills slots: the start and end of the match, then of each
// group, with -1 for a group that did not participate. slots may be shorter than the
// program's. If slots is empty, the result only tells whether there is a match.
func (c *Cache) Find(p *nfa.Prog, in Input, slots []int) Result {
	if in.From > in.To || in.From < 0 || in.To > len(in.Hay) {
		return NoMatch
	}
	var span [2]int
	s := slots
	if len(s) == 0 {
		in.Earliest = true
	}
	if p.UTF8 && len(s) < 2 {
		s = span[:] // to recognise an empty match that must be skipped
	}
	for {
		r := c.find(p, &in, s)
		if r != Match || !p.UTF8 || s[0] != s[1] || !nfa.SplitsRune(in.Hay, s[0]) {
			return r
		}
		// Skip an empty match inside a scalar value; there are at most three in a row.
		if in.Anchored || s[0] >= in.To {
			return NoMatch
		}
		in.From = s[0] + 1
	}
}

func (c *Cache) find(p *nfa.Prog, in *Input, slots []int) Result {
	// Rows don't store slot 1, the end, which is known only on a match. So row[0] is slot 0,
	// and row[i] is slot i+1.
	nslots := min(len(slots), p.Slots) &^ 1
	width := max(0, nslots-1)
	for i := range slots {
		slots[i] = -1
	}
	c.cur.fit(len(p.States), width)
	c.next.fit(len(p.States), width)
	if len(c.row) < width {
		c.row = make([]int, width)
	}
	row := c.row[:width]
	found := false
	if p.AnchoredStart && in.From > 0 {
		return NoMatch
	}
	anchored := in.Anchored || p.AnchoredStart
	mark, poll, steps := in.From, in.From+pollBytes, 0
	at := in.From
	cancelled := false
	defer func() {
		if in.Done != nil && !cancelled {
			in.Done(at-mark, steps)
		}
	}()
	for ; at <= in.To; at++ {
		if steps += len(c.cur.dense); at >= poll || steps >= pollSteps {
			if in.Done != nil && in.Done(at-mark, steps) {
				cancelled = true
				return Cancelled
			}
			mark, poll, steps = at, at+pollBytes, 0
		}
		if len(c.cur.dense) == 0 && !found && !anchored && !p.Nullable {
			// No thread is alive: skip to where the next match can start.
			for at < in.To && at < poll && !p.First[in.Hay[at]] {
				at++
			}
		}
		if !found && (at == in.From || !anchored) {
			for i := range row {
				row[i] = -1
			}
			if width > 0 {
				row[0] = at
			}
			c.follow(p, &c.cur, p.Start, in.Hay, at, row)
		} else if len(c.cur.dense) == 0 {
			break
		}
		if c.step(p, in, at, width, slots) {
			found = true
			if in.Earliest {
				break
			}
		}
		c.cur, c.next = c.next, c.cur
		c.next.dense = c.next.dense[:0]
	}
	if found {
		return Match
	}
	return NoMatch
}

// step moves every thread of cur over the byte at offset at into next. If a match ends at
// offset at, it returns true and drops the threads of lower preference.
func (c *Cache) step(p *nfa.Prog, in *Input, at, width int, slots []int) bool {
	b, more := byte(0), at < in.To
	if more {
		b = in.Hay[at]
	}
	for _, id := range c.cur.dense {
		s := &p.States[id]
		var to nfa.ID
		switch s.Op {
		case nfa.OpMatch:
			row := c.cur.rows[int(id)*width : int(id)*width+width]
			if width > 0 {
				slots[0], slots[1] = row[0], at
				copy(slots[2:], row[1:])
			}
			return true
		case nfa.OpRange:
			if !more || b < s.Lo || b > s.Hi {
				continue
			}
			to = s.A
		case nfa.OpSparse:
			next, ok := p.Next(s, b)
			if !more || !ok {
				continue
			}
			to = next
		default:
			continue
		}
		row := c.cur.rows[int(id)*width : int(id)*width+width]
		c.follow(p, &c.next, to, in.Hay, at+1, row)
	}
	return false
}

// follow adds to set every state reachable from id without reading a byte, in order of
// preference, with the positions in row. It restores row.
func (c *Cache) follow(p *nfa.Prog, set *threads, id nfa.ID, hay []byte, at int, row []int) {
	width := len(row)
	c.stack = append(c.stack[:0], frame{id: id, slot: -1})
	for len(c.stack) > 0 {
		f := c.stack[len(c.stack)-1]
		c.stack = c.stack[:len(c.stack)-1]
		if f.slot >= 0 {
			row[f.slot] = f.old
			continue
		}
		id := f.id
		for !set.has(id) {
			set.add(id)
			s := &p.States[id]
			switch s.Op {
			case nfa.OpSplit:
				c.stack = append(c.stack, frame{id: s.B, slot: -1})
				id = s.A
				continue
			case nfa.OpUnion:
				alts := p.Alts[s.A:s.B]
				for i := len(alts) - 1; i > 0; i-- {
					c.stack = append(c.stack, frame{id: alts[i], slot: -1})
				}
				id = alts[0]
				continue
			case nfa.OpLook:
				if nfa.Holds(s.Look, hay, at) {
					id = s.A
					continue
				}
			case nfa.OpCapture:
				if i := int(s.B) - 1; i < width {
					c.stack = append(c.stack, frame{slot: int32(i), old: row[i]})
					row[i] = at
				}
				id = s.A
				continue
			case nfa.OpRange, nfa.OpSparse, nfa.OpMatch:
				copy(set.rows[int(id)*width:], row)
			}
			break
		}
	}
}
