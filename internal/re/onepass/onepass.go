// Package onepass finds the groups of patterns without choices: at every position of a match
// the next byte alone determines how to continue, as in ^(\d+);([^;]*);(.*)$.
//
// For a match that begins at a given offset it gives the same groups as package pike, with one
// table look-up per byte. New refuses patterns with choices.
package onepass

import (
	"math/bits"
	"slices"

	"quarry/internal/re/hir"
	"quarry/internal/re/nfa"
)

// An entry of the table is the offset of the next row, flags, and the number of the action to
// take before the byte is read. In a loop such as [^;]* most entries have no flags and no action.
const (
	rowBits     = 18
	rowMask     = 1<<rowBits - 1
	winsFlag    = 1 << rowBits // a match at this position is preferred to continuing
	matchFlag   = 2 << rowBits // a match may end at this place
	lookFlag    = 4 << rowBits // the action has assertions
	actionShift = rowBits + 3

	maxActions = 1 << (32 - actionShift)
	// maxEntries limits the table to 512 KB. (\w+)=(\d+) takes 178 KB.
	maxEntries = 128 << 10
)

// dead is the entry for a byte that isn't read. It means row 0, which New leaves unused: no
// way leads back to the start of a pattern, so row 0 is never a real target.
const dead = matchFlag

// Engine is a program compiled into a table. It is immutable and shared.
type Engine struct {
	p       *nfa.Prog
	table   []uint32
	classes [256]uint8
	start   uint32
	shift   uint     // log2 of a row's entries
	final   []uint16 // by row: the action of a match that ends there, or noMatch
	actions []action
}

const noMatch = ^uint16(0)

// action describes what happens between two bytes: assertions that must hold, and slots that
// are set to the position. Most actions set one or two slots, when a group ends and the next
// one begins. These are a and b; a equals b if there is only one.
type action struct {
	looks nfa.LookSet
	a, b  uint16
	rest  []uint16
}

func newAction(looks nfa.LookSet, slots []uint16) action {
	// Slot 0, the start of the match, is set at the end of the search.
	x := action{looks: looks}
	switch len(slots) {
	case 0:
	case 1:
		x.a, x.b = slots[0], slots[0]
	default:
		x.a, x.b, x.rest = slots[0], slots[1], slots[2:]
	}
	return x
}

func (x *action) equal(y *action) bool {
	return x.looks == y.looks && x.a == y.a && x.b == y.b && slices.Equal(x.rest, y.rest)
}

// holds reports whether the action's assertions hold.
func (x *action) holds(hay []byte, at int) bool {
	for set := uint32(x.looks); set != 0; set &= set - 1 {
		if !nfa.Holds(hir.Look(bits.TrailingZeros32(set)), hay, at) {
			return false
		}
	}
	return true
}

func (x *action) apply(slots []int, at int) {
	slots[x.a], slots[x.b] = at, at
	for _, i := range x.rest {
		slots[i] = at
	}
}

// Cache is the scratch of one search. The zero value is ready. It must not be used
// concurrently.
type Cache struct {
	all []int // used if the caller's slots are too short

	// The longest match so far ends at end (-1 if there is none) with the action last. A
	// longer preferred match may follow, so the slots are saved before they are overwritten.
	end   int
	last  uint16
	saved bool
	slots []int
}

// Find searches for a match that begins at from and is in hay[from:to]; assertions see all
// of hay. It fills slots like pike.Cache.Find.
func (c *Cache) Find(e *Engine, hay []byte, from, to int, slots []int) bool {
	if from < 0 || to > len(hay) || from > to || e.p.AnchoredStart && from > 0 {
		return false
	}
	all := slots
	if len(all) < e.p.Slots {
		if len(c.all) < e.p.Slots {
			c.all = make([]int, e.p.Slots)
		}
		all = c.all[:e.p.Slots]
	}
	for i := range all {
		all[i] = -1
	}
	end := c.run(e, hay, from, to, all)
	if end < 0 || end == from && e.p.UTF8 && nfa.SplitsRune(hay, from) {
		return false
	}
	all[0], all[1] = from, end
	if len(slots) < len(all) {
		copy(slots, all)
	}
	return true
}

// run returns the end of the match, or -1.
func (c *Cache) run(e *Engine, hay []byte, from, to int, slots []int) int {
	row, at := e.start, from
	table, text := e.table, hay[:to]
	c.end, c.saved = -1, false
	careful := uint32(matchFlag | lookFlag)
	for {
		t := uint32(dead)
		for at < len(text) {
			if t = table[row+uint32(e.classes[text[at]])]; t > rowMask {
				break
			}
			row = t
			at++
		}
		if at >= len(text) {
			t = dead
		}
		if t&careful != 0 {
			if !c.look(e, hay, at, row, t, slots) {
				break
			}
			if c.end >= 0 {
				careful = ^uint32(rowMask) // slots may have to be saved
			}
		} else {
			a := &e.actions[t>>actionShift]
			slots[a.a], slots[a.b] = at, at
			if len(a.rest) > 0 {
				a.apply(slots, at)
			}
		}
		row = t & rowMask
		at++
	}
	if c.end >= 0 {
		if c.saved {
			copy(slots, c.slots)
		}
		e.actions[c.last].apply(slots, c.end)
	}
	return c.end
}

// look executes an entry's action and reports whether the byte is read.
func (c *Cache) look(e *Engine, hay []byte, at int, row, t uint32, slots []int) bool {
	if t&matchFlag != 0 {
		if f := e.final[row>>e.shift]; f != noMatch && e.actions[f].holds(hay, at) {
			c.end, c.last, c.saved = at, f, false
			if t&winsFlag != 0 {
				return false
			}
		}
		if t == dead {
			return false
		}
	}
	n := t >> actionShift
	if n == 0 {
		return true
	}
	a := &e.actions[n]
	if !a.holds(hay, at) {
		return false
	}
	if c.end >= 0 && !c.saved {
		c.slots = append(c.slots[:0], slots...)
		c.saved = true
	}
	a.apply(slots, at)
	return true
}
