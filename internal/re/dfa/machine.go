package dfa

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unsafe"

	"quarry/internal/re/nfa"
)

type mode uint8

const (
	modeFind    mode = iota // ends of matches, by preference
	modeReverse             // starts of matches, all of them
	modeLines               // whether a line matches
)

// The first rows of every table are not states. All their entries lead back to the row itself,
// so a loop may check only occasionally whether it fell into one. The exception: in modeLines,
// \n leads from rowDead to the next line.
const (
	rowUnknown = iota // not built yet
	rowQuit           // the machine can't decide
	rowMatched        // modeLines: this line matches
	rowDead           // no match from here
	numSpecial
)

// matchBit in a table entry says that a match ended (modeReverse: started) before the byte
// that was read. It is part of the entry, not of the state.
const matchBit = 1

// machine is the growing automaton of one cache.
//
// A state's id is the byte offset of its row in the table: the row's number times the row's
// size. So one step reads table[id+4*column].
type machine struct {
	p     *nfa.Prog
	mode  mode
	look  *lookTable
	start nfa.ID // where unanchored runs begin

	table    []uint32
	cols     [256]uint8 // byte → column; the identity while wide
	wide     bool       // a row has an entry for each byte, not for each class
	shift    uint       // log2 of a row's bytes
	classes  *classes
	rows     []row
	arena    []nfa.ID // the rows' sets
	ids      map[string]uint32
	starts   [2][numKinds]uint32 // by anchored and the preceding kind; 0 is unknown
	live     []uint32            // states that a caller still needs after a clear
	budget   sizes
	used     int
	created  int // states since the last clear
	scanned  int // bytes since the last clear, maintained by the callers
	read     int // bytes read before the last clear
	bad      int // consecutive clears that came too early
	thrashed bool
	loops    map[uint32]*loop // by state; see loopAt
	clears   int

	seen  sparseSet
	stack []nfa.ID
	list  []nfa.ID // the set of states being built
	roots []nfa.ID // the states that list was built from; see intern
	tmp   []nfa.ID
	key   []byte
}

// row is one state: a set of automaton states, in order of preference where that matters,
// and the kind of byte read before it.
type row struct {
	off, n uint32 // arena[off:off+n]
	before kind
	looks  bool  // the set has unresolved assertions
	atEnd  uint8 // whether the text may end here: 0 unknown, 1 no, 2 yes
}

// classes is the inverse of a program's byte classes.
type classes struct {
	of      [256]uint8
	n       int
	members [][]byte
}

func newClasses(p *nfa.Prog, mode mode) *classes {
	c := &classes{of: p.Classes, n: p.NumClasses}
	if mode == modeLines && c.n < 256 {
		// \n ends a line and must not share a class.
		shared := false
		for b := range 256 {
			shared = shared || b != '\n' && c.of[b] == c.of['\n']
		}
		if shared {
			c.of['\n'] = uint8(c.n)
			c.n++
		}
	}
	c.members = make([][]byte, c.n)
	for b := range 256 {
		c.members[c.of[b]] = append(c.members[c.of[b]], byte(b))
	}
	return c
}

type sparseSet struct {
	dense  []nfa.ID
	sparse []uint32
}

func (s *sparseSet) add(id nfa.ID) bool {
	if i := s.sparse[id]; int(i) < len(s.dense) && s.dense[i] == id {
		return false
	}
	s.sparse[id] = uint32(len(s.dense))
	s.dense = append(s.dense, id)
	return true
}

func newMachine(p *nfa.Prog, mode mode, look *lookTable, cl *classes, budget sizes) *machine {
	m := &machine{p: p, mode: mode, look: look, classes: cl, budget: budget, wide: true, start: p.Search}
	if mode == modeReverse || p.AnchoredStart || mode == modeLines && p.LineAnchored {
		m.start = p.Start
	}
	m.seen.sparse = make([]uint32, len(p.States))
	m.seen.dense = make([]nfa.ID, 0, len(p.States))
	m.reset()
	return m
}

// reset empties the table. While wide rows fit the budget they are used, since they save the
// loops a look-up. After that rows by class hold more states.
func (m *machine) reset() {
	if m.wide {
		m.shift = 10
		for b := range 256 {
			m.cols[b] = uint8(b)
		}
	} else {
		m.shift = uint(bits.Len(uint(m.classes.n-1))) + 2
		m.cols = m.classes.of
	}
	m.table = m.table[:0]
	m.rows = m.rows[:0]
	m.arena = m.arena[:0]
	m.ids = make(map[string]uint32)
	clear(m.loops)
	m.clears++
	m.starts = [2][numKinds]uint32{}
	m.read += m.scanned
	m.used, m.created, m.scanned = 0, 0, 0
	for r := range numSpecial {
		m.grow(uint32(r) << m.shift)
		m.rows = append(m.rows, row{})
	}
	if m.mode == modeLines {
		m.table[rowDead<<(m.shift-2)+int(m.cols['\n'])] = m.special(rowUnknown)
	}
}

// grow adds a row with every entry set to fill.
func (m *machine) grow(fill uint32) {
	n := 1 << (m.shift - 2)
	m.table = slices.Grow(m.table, n)[:len(m.table)+n]
	for i := len(m.table) - n; i < len(m.table); i++ {
		m.table[i] = fill
	}
}

func (m *machine) special(r int) uint32 { return uint32(r) << m.shift }

// limit returns the smallest id of a real state.
func (m *machine) limit() uint32 { return numSpecial << m.shift }

// base returns the address of the table, valid until a state is built.
func (m *machine) base() unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(m.table)) }

// peek returns the entry of state id for byte b, which may be unknown.
func (m *machine) peek(id uint32, b byte) uint32 {
	return m.table[id>>2+uint32(m.cols[b])]
}

// step returns the entry of state id for byte b, building it if necessary. Building may
// clear the table, which invalidates all ids except the result and m.live.
func (m *machine) step(id uint32, b byte) uint32 {
	if e := m.peek(id, b); e != rowUnknown {
		return e
	}
	return m.build(id, b)
}

func (m *machine) set(r *row) []nfa.ID { return m.arena[r.off : r.off+r.n] }

// startState returns the start state of a run after a byte of kind before.
func (m *machine) startState(anchored bool, before kind) uint32 {
	i, from := 0, m.start
	if anchored {
		i, from = 1, m.p.Start
	}
	if id := m.starts[i][before]; id != 0 {
		return id
	}
	m.begin()
	m.roots = append(m.roots, from)
	m.follow(from, m.look.all[before], m.look.any[before])
	id := m.intern(before)
	m.starts[i][before] = id
	return id
}

func (m *machine) begin() {
	m.seen.dense = m.seen.dense[:0]
	m.list = m.list[:0]
	m.roots = m.roots[:0]
}

// follow appends to list the states reachable from id without reading a byte: those that
// read a byte, match, or assert something that the next byte decides. It passes assertions in
// hold, and drops those not in may. It returns false if the rest of the set doesn't matter,
// because a match was reached and preference applies.
func (m *machine) follow(id nfa.ID, hold, may nfa.LookSet) bool {
	m.stack = append(m.stack[:0], id)
	for len(m.stack) > 0 {
		id := m.stack[len(m.stack)-1]
		m.stack = m.stack[:len(m.stack)-1]
		for m.seen.add(id) {
			s := &m.p.States[id]
			switch s.Op {
			case nfa.OpSplit:
				m.stack = append(m.stack, s.B)
				id = s.A
				continue
			case nfa.OpUnion:
				alts := m.p.Alts[s.A:s.B]
				for i := len(alts) - 1; i > 0; i-- {
					m.stack = append(m.stack, alts[i])
				}
				id = alts[0]
				continue
			case nfa.OpCapture:
				id = s.A
				continue
			case nfa.OpLook:
				if hold.Has(s.Look) {
					id = s.A
					continue
				}
				if may.Has(s.Look) {
					m.list = append(m.list, id)
				}
			case nfa.OpRange, nfa.OpSparse:
				m.list = append(m.list, id)
			case nfa.OpMatch:
				m.list = append(m.list, id)
				if m.mode != modeReverse {
					return false
				}
			}
			break
		}
	}
	return true
}

// resolve returns the set of r with its assertions decided by the kind of the next byte.
func (m *machine) resolve(r *row, next kind) []nfa.ID {
	if !r.looks {
		return m.set(r)
	}
	hold := m.look.holds[r.before][next]
	m.begin()
	for _, id := range m.set(r) {
		if !m.follow(id, hold, 0) {
			break
		}
	}
	m.tmp = append(m.tmp[:0], m.list...)
	return m.tmp
}

// ends reports whether a match ends in state id at the end of the text. Matched lines have
// already ended.
func (m *machine) ends(id uint32) bool {
	i := id >> m.shift
	if i < numSpecial {
		return i == rowMatched
	}
	r := &m.rows[i]
	if r.atEnd == 0 {
		r.atEnd = 1
		if m.hasOp(m.resolve(r, kindEdge), nfa.OpMatch) {
			r.atEnd = 2
		}
	}
	return r.atEnd == 2
}

// hasOp reports whether set has a state with op.
func (m *machine) hasOp(set []nfa.ID, op nfa.Op) bool {
	for _, id := range set {
		if m.p.States[id].Op == op {
			return true
		}
	}
	return false
}

// build computes the entry of state id for byte b and stores it for every byte of b's
// class.
func (m *machine) build(id uint32, b byte) uint32 {
	e, cleared := m.target(id, b)
	if cleared {
		return e // id is invalid now
	}
	at := id >> 2
	if m.wide {
		for _, b := range m.classes.members[m.classes.of[b]] {
			m.table[at+uint32(b)] = e
		}
	} else {
		m.table[at+uint32(m.cols[b])] = e
	}
	return e
}

func (m *machine) target(id uint32, b byte) (entry uint32, cleared bool) {
	if m.mode == modeLines && b == '\n' {
		if m.ends(id) {
			return m.special(rowMatched), false
		}
		return m.lineStart()
	}
	k := kindOf(b)
	if m.mode != modeLines && k == kindHigh && m.p.Looks.HasAny(nfa.LooksUnicode) {
		return m.special(rowQuit), false
	}
	from := m.resolve(&m.rows[id>>m.shift], k)
	matched := uint32(0)
	if m.hasOp(from, nfa.OpMatch) {
		if m.mode == modeLines {
			return m.special(rowMatched), false
		}
		matched = matchBit
	}
	m.begin()
	for _, id := range from {
		s := &m.p.States[id]
		var to nfa.ID
		switch s.Op {
		case nfa.OpRange:
			if b < s.Lo || b > s.Hi {
				continue
			}
			to = s.A
		case nfa.OpSparse:
			next, ok := m.p.Next(s, b)
			if !ok {
				continue
			}
			to = next
		default:
			continue
		}
		m.roots = append(m.roots, to)
		if !m.follow(to, m.look.all[k], m.look.any[k]) {
			break
		}
	}
	if m.mode == modeLines && m.hasOp(m.list, nfa.OpMatch) {
		return m.special(rowMatched), false
	}
	if len(m.list) == 0 {
		return m.special(rowDead) | matched, false
	}
	if m.full(len(m.list)) {
		m.clear()
		cleared = true
	}
	return m.intern(k) | matched, cleared
}

// lineStart returns the state at the start of a line.
func (m *machine) lineStart() (id uint32, cleared bool) {
	if id := m.starts[0][kindEdge]; id != 0 {
		return id, false
	}
	if m.full(1) {
		m.clear()
		cleared = true
	}
	return m.startState(false, kindEdge), cleared
}

// intern returns the state of the set in list.
//
// A set with undecided assertions is stored in one of two forms. Without preference it is
// stored as it is: following the assertions later adds the missing states. With preference
// that could change the order, because a state after an assertion may already be in the set on
// a less preferred way. So the states that the set was built from are stored instead, and the
// set is built again once the next byte is known.
func (m *machine) intern(before kind) uint32 {
	if len(m.list) == 0 {
		return m.special(rowDead)
	}
	open := m.hasOp(m.list, nfa.OpLook)
	set := m.list
	if m.mode != modeFind {
		slices.Sort(set) // so that equal sets are one state
	} else if open {
		set = m.roots
	}
	if !open {
		return m.row(set, kindEdge, false)
	}
	// Any other assertion may follow an undecided one, so all of them matter.
	return m.row(set, m.look.canonical(before, m.p.Looks), true)
}

// row returns the state with this set, preceding kind and looks flag, adding it if it is new.
func (m *machine) row(set []nfa.ID, before kind, looks bool) uint32 {
	m.key = append(m.key[:0], byte(before))
	if looks {
		m.key[0] |= 0x80
	}
	for _, id := range set {
		m.key = binary.LittleEndian.AppendUint32(m.key, uint32(id))
	}
	if id, ok := m.ids[string(m.key)]; ok {
		return id
	}
	id := uint32(len(m.rows)) << m.shift
	m.ids[string(m.key)] = id
	m.rows = append(m.rows, row{off: uint32(len(m.arena)), n: uint32(len(set)), before: before, looks: looks})
	m.arena = append(m.arena, set...)
	m.grow(m.special(rowUnknown))
	m.used += m.cost(len(set))
	m.created++
	return id
}

// cost is the memory of a state with a set of n: its row, set and key, and an estimate of the
// map's share.
func (m *machine) cost(n int) int { return 1<<m.shift + 8*n + 96 }

func (m *machine) full(n int) bool {
	limit := m.budget.compact
	if m.wide {
		limit = m.budget.wide
	}
	return m.used+m.cost(n) > limit && m.created >= minStates
}

const (
	// minStates is the smallest number of states in a cache, whatever its size limit. With
	// fewer, the cache would be cleared after each byte.
	minStates = 16

	// A state costs about as much to build as 10 bytes cost to simulate. So a cache that fills
	// up after fewer bytes per state doesn't pay.
	minBytesPerState = 10

	// After badClears consecutive early clears the search is handed over.
	badClears = 3
)

// clear drops all states except those in live, which get new ids, and keeps the set being
// built.
func (m *machine) clear() {
	type saved struct {
		row
		set []nfa.ID
	}
	keep := make([]saved, len(m.live))
	for i, id := range m.live {
		if r := id >> m.shift; r >= numSpecial {
			x := &m.rows[r]
			keep[i] = saved{*x, slices.Clone(m.set(x))}
		}
	}
	if m.scanned < minBytesPerState*m.created {
		if m.bad++; m.bad >= badClears {
			m.thrashed = true
			m.bad = 0
		}
	} else {
		m.bad = 0
	}
	old := m.shift
	m.wide = false
	m.reset()
	for i, id := range m.live {
		if keep[i].set == nil {
			m.live[i] = id >> old << m.shift
			continue
		}
		m.live[i] = m.row(keep[i].set, keep[i].before, keep[i].looks)
	}
}
