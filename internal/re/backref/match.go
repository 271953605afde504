package backref

import (
	"bytes"
	"unicode/utf8"

	"quarry/internal/re/hir"
)

// Matcher runs a program. It has scratch space, so each goroutine needs its own.
type Matcher struct {
	prog   *Program
	budget *Budget
	steps  int64 // taken from the budget and not yet used
	slots  []int
	stack  []frame
}

// NewMatcher returns a matcher that takes its steps from the budget, which all matchers of
// a query share. nil means a budget of DefaultSteps.
func (p *Program) NewMatcher(b *Budget) *Matcher {
	if b == nil {
		b = NewBudget(DefaultSteps)
	}
	return &Matcher{prog: p, budget: b, slots: make([]int, p.slots)}
}

// Find searches for the first match that begins at or after start. Look-behinds and assertions
// see the text before start. The span of group i is caps[2*i] and caps[2*i+1], or -1 if it is
// unset; caps may be shorter. The error is ErrBudget or the one given to Budget.Stop.
func (m *Matcher) Find(text []byte, start int, caps []int) (bool, error) {
	p := m.prog
	defer m.shrink()
	for pos := start; pos <= len(text); {
		if p.anchored && pos > 0 {
			return false, nil
		}
		if !p.empty {
			next := pos
			for next < len(text) && !p.first[text[next]] {
				next++
			}
			m.steps -= int64(next-pos) >> 4
			if pos = next; pos == len(text) {
				return false, nil
			}
		}
		ok, err := m.run(text, pos)
		if err != nil {
			return false, err
		}
		if ok {
			copy(caps, m.slots[:2*p.groups])
			return true, nil
		}
		_, size := utf8.DecodeRune(text[pos:])
		pos += max(size, 1)
	}
	return false, nil
}

// MatchAt is Find for a match that begins exactly at pos. It serves to get the groups of a
// span found by another engine.
func (m *Matcher) MatchAt(text []byte, pos int, caps []int) (bool, error) {
	defer m.shrink()
	ok, err := m.run(text, pos)
	if ok {
		copy(caps, m.slots[:2*m.prog.groups])
	}
	return ok, err
}

// frame says what to do when the match fails: undo an assignment, or continue elsewhere.
type frame struct {
	kind frameKind
	x    int32 // slot, or instruction
	a, b int
}

type frameKind uint32

const (
	frameUndo   frameKind = iota // restore slot x to a
	frameBranch                  // continue at x from position a
	frameLess                    // loop at x: give back one character, from position a down to b
	frameMore                    // loop at x: take one more character at a, until b
	frameLook                    // the look-around at x has failed; it began at a
)

const (
	// maxFrames limits the stack to 48 MB. A loop over single characters takes one frame in
	// total, other loops take a few per iteration.
	maxFrames = 2 << 20

	// keepFrames is the stack size that a matcher keeps between texts.
	keepFrames = 1 << 12
)

func (m *Matcher) shrink() {
	if cap(m.stack) > keepFrames {
		m.stack = nil
	}
}

func (m *Matcher) assign(slot int32, v int) {
	m.stack = append(m.stack, frame{kind: frameUndo, x: slot, a: m.slots[slot]})
	m.slots[slot] = v
}

func (m *Matcher) branch(pc int32, pos int) {
	m.stack = append(m.stack, frame{kind: frameBranch, x: pc, a: pos})
}

// run matches from pos and leaves the groups in m.slots.
func (m *Matcher) run(text []byte, pos int) (bool, error) {
	for i := range m.slots {
		m.slots[i] = -1
	}
	m.stack = m.stack[:0]
	m.slots[0] = pos
	pc, ok := int32(0), true
	for {
		if m.steps--; m.steps < 0 || len(m.stack) > maxFrames {
			if err := m.pay(); err != nil {
				return false, err
			}
		}
		if !ok {
			if pc, pos, ok = m.backtrack(text); !ok {
				return false, nil
			}
		}
		in := &m.prog.code[pc]
		if in.op == opMatch {
			m.slots[1] = pos
			return true, nil
		}
		pc, pos, ok = m.step(in, pc, text, pos)
	}
}

// step executes the instruction in; ok is false if the match fails at it.
func (m *Matcher) step(in *inst, pc int32, text []byte, pos int) (next int32, at int, ok bool) {
	switch in.op {
	case opLiteral:
		if in.back {
			if bytes.HasSuffix(text[:pos], in.lit) {
				return pc + 1, pos - len(in.lit), true
			}
		} else if bytes.HasPrefix(text[pos:], in.lit) {
			return pc + 1, pos + len(in.lit), true
		}
		return pc, pos, false
	case opSet:
		n := in.one(text, pos)
		return pc + 1, pos + n, n != 0
	case opLoop:
		return m.loop(in, pc, text, pos)
	case opSplit:
		m.branch(in.y, pos)
		return in.x, pos, true
	case opJump:
		return in.x, pos, true
	case opSave, opMark:
		m.assign(in.x, pos)
	case opUnset:
		for s := in.x; s < in.y; s++ {
			if m.slots[s] >= 0 {
				m.assign(s, -1)
			}
		}
	case opZero:
		m.assign(in.x, 0)
	case opMoved:
		return pc + 1, pos, m.slots[in.x] != pos
	case opCount:
		return m.count(in, pc, pos)
	case opCounted:
		n := m.slots[in.x]
		if n >= in.min && m.slots[in.x+1] == pos {
			return pc, pos, false
		}
		m.assign(in.x, n+1)
		return in.y, pos, true
	case opAssert:
		return pc + 1, pos, holds(in.look, text, pos)
	case opLook:
		m.assign(in.x, len(m.stack)+2)
		m.assign(in.x+1, pos)
		m.stack = append(m.stack, frame{kind: frameLook, x: pc, a: pos})
	case opLookEnd:
		return m.lookEnd(&m.prog.code[in.x])
	case opBackref:
		at, ok := m.backref(in, text, pos)
		return pc + 1, at, ok
	}
	return pc + 1, pos, true
}

// count executes the head of a counted loop.
func (m *Matcher) count(in *inst, pc int32, pos int) (int32, int, bool) {
	n := m.slots[in.x]
	switch {
	case n < in.min:
	case in.max != hir.Unlimited && n >= in.max:
		return in.y, pos, true
	case !in.greedy:
		// The body runs on the branch, so record the position before it.
		m.assign(in.x+1, pos)
		m.branch(pc+1, pos)
		return in.y, pos, true
	default:
		m.branch(in.y, pos)
	}
	m.assign(in.x+1, pos)
	return pc + 1, pos, true
}

// one returns the length of the character at pos if it is in the set, else 0. If in.back is
// set, it looks at the character before pos, and the length is negative.
func (in *inst) one(text []byte, pos int) int {
	if in.back {
		if pos == 0 {
			return 0
		}
		r, n := rune(text[pos-1]), 1
		if r >= utf8.RuneSelf {
			if r, n = utf8.DecodeLastRune(text[:pos]); n == 1 {
				return 0
			}
		}
		if in.set.has(r) {
			return -n
		}
		return 0
	}
	if pos == len(text) {
		return 0
	}
	r, n := rune(text[pos]), 1
	if r >= utf8.RuneSelf {
		if r, n = utf8.DecodeRune(text[pos:]); n == 1 {
			return 0
		}
	}
	if in.set.has(r) {
		return n
	}
	return 0
}

// loop takes characters of the set, as many as allowed or as few. It leaves one frame for all
// other allowed numbers.
func (m *Matcher) loop(in *inst, pc int32, text []byte, pos int) (int32, int, bool) {
	taken := 0
	for ; taken < in.min; taken++ {
		n := in.one(text, pos)
		if n == 0 {
			m.steps -= int64(taken)
			return pc, pos, false
		}
		pos += n
	}
	rest := in.max - in.min
	if in.max == hir.Unlimited {
		rest = len(text)
	}
	if !in.greedy {
		m.steps -= int64(taken)
		if rest > 0 {
			m.stack = append(m.stack, frame{frameMore, pc, pos, rest})
		}
		return pc + 1, pos, true
	}
	least := pos
	for ; rest > 0; rest-- {
		n := in.one(text, pos)
		if n == 0 {
			break
		}
		pos += n
		taken++
	}
	m.steps -= int64(taken)
	if pos != least {
		m.stack = append(m.stack, frame{frameLess, pc, pos, least})
	}
	return pc + 1, pos, true
}

// backtrack undoes assignments until it reaches a frame with another way to continue.
func (m *Matcher) backtrack(text []byte) (pc int32, pos int, ok bool) {
	for len(m.stack) > 0 {
		top := len(m.stack) - 1
		f := m.stack[top]
		m.stack = m.stack[:top]
		switch f.kind {
		case frameUndo:
			m.slots[f.x] = f.a
		case frameBranch:
			return f.x, f.a, true
		case frameLess:
			pos := f.a + stepBack(&m.prog.code[f.x], text, f.a)
			if pos != f.b {
				m.stack = append(m.stack, frame{frameLess, f.x, pos, f.b})
			}
			return f.x + 1, pos, true
		case frameMore:
			n := m.prog.code[f.x].one(text, f.a)
			if n == 0 {
				continue
			}
			if f.b > 1 {
				m.stack = append(m.stack, frame{frameMore, f.x, f.a + n, f.b - 1})
			}
			return f.x + 1, f.a + n, true
		case frameLook:
			if in := &m.prog.code[f.x]; in.negate {
				return in.y, f.a, true
			}
		}
	}
	return 0, 0, false
}

// stepBack returns the position before the last character that was taken by a loop ending at pos.
func stepBack(in *inst, text []byte, pos int) int {
	if in.back {
		_, n := utf8.DecodeRune(text[pos:])
		return n
	}
	_, n := utf8.DecodeLastRune(text[:pos])
	return -n
}

// lookEnd ends a look-around that has matched. One match is enough, so alternatives inside it
// are dropped. Its groups and their undo frames are kept, unless it is negative.
func (m *Matcher) lookEnd(in *inst) (int32, int, bool) {
	base, pos := m.slots[in.x]-1, m.slots[in.x+1]
	// The frame of the look-around is at base+1, after two undo frames for its slots.
	inside := m.stack[base+1:]
	m.steps -= int64(len(inside)) >> 2
	if in.negate {
		for i := len(inside) - 1; i > 0; i-- {
			if inside[i].kind == frameUndo {
				m.slots[inside[i].x] = inside[i].a
			}
		}
		m.stack = m.stack[:base+1]
		return 0, 0, false
	}
	kept := m.stack[:base+1]
	for _, f := range inside {
		if f.kind == frameUndo {
			kept = append(kept, f)
		}
	}
	m.stack = kept
	return in.y, pos, true
}
