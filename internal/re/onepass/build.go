package onepass

import (
	"math/bits"

	"quarry/internal/re/nfa"
)

// New makes an engine from a program that was compiled without Reverse. It returns nil if the
// pattern needs a choice somewhere, or if the table would be too large.
func New(p *nfa.Prog) *Engine {
	b := &builder{
		e:    &Engine{p: p, classes: p.Classes, shift: uint(bits.Len(uint(p.NumClasses - 1))), actions: make([]action, 1)},
		rows: make(map[nfa.ID]uint32),
		seen: make([]uint32, len(p.States)),
	}
	b.grow() // row 0 is unused; see dead
	b.e.start = b.row(p.Start)
	for b.ok() && len(b.todo) > 0 {
		id := b.todo[len(b.todo)-1]
		b.todo = b.todo[:len(b.todo)-1]
		b.fill(id)
	}
	if !b.ok() {
		return nil
	}
	return b.e
}

// builder builds an engine. A row is the state after a byte is read; it covers all states
// reachable from there without reading another byte.
type builder struct {
	e      *Engine
	rows   map[nfa.ID]uint32
	todo   []nfa.ID // rows to be filled
	seen   []uint32 // by state: mark of the last row it was reached from
	stack  []way
	choose bool // two ways apply at one position
}

// way is a state reached without reading a byte, and the actions on the path to it.
type way struct {
	id    nfa.ID
	looks nfa.LookSet
	slots []uint16
}

// to returns the way continued to state id.
func (w way) to(id nfa.ID) way {
	w.id = id
	return w
}

func (b *builder) ok() bool {
	return !b.choose && len(b.e.table) <= maxEntries && len(b.e.actions) <= maxActions
}

func (b *builder) grow() uint32 {
	e := b.e
	row := uint32(len(e.table))
	for range 1 << e.shift {
		e.table = append(e.table, dead)
	}
	e.final = append(e.final, noMatch)
	return row
}

// row returns the row of a state, which may not be filled yet.
func (b *builder) row(id nfa.ID) uint32 {
	row, ok := b.rows[id]
	if !ok {
		row = b.grow()
		b.rows[id] = row
		b.todo = append(b.todo, id)
	}
	return row
}

// action returns the bits of an entry for a way: the number of its action, and a flag if it
// has assertions.
func (b *builder) action(w way) uint32 {
	flag := uint32(0)
	if w.looks != 0 {
		flag = lookFlag
	}
	return b.number(w)<<actionShift | flag
}

// number returns the number of a way's action, adding the action if it is new. There are few.
func (b *builder) number(w way) uint32 {
	a := newAction(w.looks, w.slots)
	for i := range b.e.actions {
		if b.e.actions[i].equal(&a) {
			return uint32(i)
		}
	}
	b.e.actions = append(b.e.actions, a)
	return uint32(len(b.e.actions) - 1)
}

// fill follows all ways from a row's state in order of preference, like pike.Cache. A state
// reached twice, or a byte read by two states, means that the pattern needs a choice.
func (b *builder) fill(root nfa.ID) {
	e, row := b.e, b.rows[root]
	mark := row>>e.shift + 1
	flags := uint32(0)
	b.stack = append(b.stack[:0], way{id: root})
	for len(b.stack) > 0 && b.ok() {
		w := b.stack[len(b.stack)-1]
		b.stack = b.stack[:len(b.stack)-1]
		if b.seen[w.id] == mark {
			b.choose = true
			return
		}
		b.seen[w.id] = mark
		switch s := &e.p.States[w.id]; s.Op {
		case nfa.OpRange:
			b.edge(row, flags|b.action(w), s.Lo, s.Hi, s.A)
		case nfa.OpSparse:
			low := flags | b.action(w)
			for _, t := range e.p.Trans[s.A:s.B] {
				b.edge(row, low, t.Lo, t.Hi, t.Next)
			}
		case nfa.OpSplit:
			b.stack = append(b.stack, w.to(s.B), w.to(s.A))
		case nfa.OpUnion:
			alts := e.p.Alts[s.A:s.B]
			for i := len(alts) - 1; i >= 0; i-- {
				b.stack = append(b.stack, w.to(alts[i]))
			}
		case nfa.OpLook:
			w.looks |= 1 << s.Look
			b.stack = append(b.stack, w.to(s.A))
		case nfa.OpCapture:
			w.slots = append(w.slots[:len(w.slots):len(w.slots)], uint16(min(s.B, 1<<16-1)))
			b.stack = append(b.stack, w.to(s.A))
		case nfa.OpMatch:
			e.final[row>>e.shift] = uint16(b.number(w))
			if w.looks == 0 {
				b.stack = b.stack[:0] // ways of lower preference can't win
			}
			flags = winsFlag
		}
	}
	if e.final[row>>e.shift] != noMatch {
		// The loop must stop at every entry of this row, even if the byte continues the match
		// or is not read.
		for i := range uint32(1) << e.shift {
			e.table[row+i] |= matchFlag
		}
	}
}

// edge sets the entries for the bytes lo..hi to the row of to, combined with low (flags and action).
func (b *builder) edge(row, low uint32, lo, hi byte, to nfa.ID) {
	entry := b.row(to) | low
	for c := int(b.e.classes[lo]); c <= int(b.e.classes[hi]); c++ {
		switch at := &b.e.table[row+uint32(c)]; *at {
		case dead:
			*at = entry
		case entry:
		default:
			b.choose = true
		}
	}
}
