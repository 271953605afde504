package dfa

import (
	"unsafe"

	"quarry/internal/re/nfa"
)

// Result is the outcome of a Finder's search.
type Result uint8

const (
	NoMatch Result = iota
	Match
	// GaveUp: the cache was refilled too often, or a Unicode assertion would have to be
	// decided beside a byte over 0x7F. Another engine must search from the same start.
	GaveUp
	// Stopped: Stop returned true; nothing is known.
	Stopped
)

// pollBytes is the number of bytes read between two calls of Stop, which takes well under a
// millisecond.
const pollBytes = 256 << 10

// Finder finds spans with two automata: a forward one finds the end of the preferred match,
// and a reversed one then finds its start.
type Finder struct {
	fwd, rev     *nfa.Prog
	fcl, rcl     *classes
	flook, rlook *lookTable
	cacheSize    sizes

	// skip is set for patterns without assertions that begin with rare bytes. A run in its start
	// state stays there until a byte that can begin a match, so it searches for such a byte directly.
	skip bool
	next func(text []byte, from int) int
	// literal is set if next is the caller's Options.Next and not the search for a first byte.
	literal bool
}

// rareFirst reports whether matches begin with bytes that are rare in most texts, so that searching
// for them pays. Small letters and spaces are too frequent: at most a few of the bytes may be such.
func rareFirst(p *nfa.Prog) bool {
	common := 0
	for b, in := range p.First {
		if in && (b == ' ' || b == '\t' || b >= 'a' && b <= 'z') {
			common++
		}
	}
	return common <= 3
}

// NewFinder makes a Finder from two programs of the same pattern, compiled without and with
// Reverse; captures in the first are ignored.
func NewFinder(fwd, rev *nfa.Prog, opt *Options) *Finder {
	f := &Finder{
		skip: rareFirst(fwd) && fwd.Looks == 0 && !fwd.Nullable,
		fwd:  fwd, rev: rev,
		fcl: newClasses(fwd, modeFind), rcl: newClasses(rev, modeReverse),
		flook: newLookTable(false), rlook: newLookTable(true),
		cacheSize: opt.cacheSize(fwd),
	}
	f.next = f.nextFirst
	if opt != nil && opt.Next != nil && fwd.Looks == 0 && !fwd.Nullable {
		f.skip, f.next, f.literal = true, opt.Next, true
	}
	return f
}

// FindCache holds the states that a Finder has built. It must not be used concurrently.
type FindCache struct {
	// Stop is called every 256 KiB; if it returns true the search stops. It may be nil.
	Stop func() bool

	f   *Finder
	fwd *machine
	rev *machine // built on first use
}

// NewCache returns an empty cache.
func (f *Finder) NewCache() *FindCache {
	return &FindCache{f: f, fwd: newMachine(f.fwd, modeFind, f.flook, f.fcl, f.cacheSize)}
}

// Find returns the span of the leftmost match in hay[from:to]; assertions see all of hay.
// The result equals pike.Cache.Find's, or is GaveUp.
func (c *FindCache) Find(hay []byte, from, to int, anchored bool) (start, end int, r Result) {
	for {
		end, r = c.run(hay, from, to, anchored, false)
		if r != Match {
			return -1, -1, r
		}
		start = from
		if !anchored && !c.f.fwd.AnchoredStart {
			if start, r = c.startOf(hay, from, end); r != Match {
				return -1, -1, max(r, GaveUp)
			}
		}
		if start != end || !c.f.fwd.UTF8 || !nfa.SplitsRune(hay, end) {
			return start, end, Match
		}
		if anchored || end >= to {
			return -1, -1, NoMatch
		}
		from = end + 1
	}
}

// FindEnd returns the end of the leftmost match or, with earliest set, the first offset at
// which any match ends. It doesn't know the start, so an empty match may split a scalar value.
func (c *FindCache) FindEnd(hay []byte, from, to int, anchored, earliest bool) (end int, r Result) {
	return c.run(hay, from, to, anchored, earliest)
}

func (c *FindCache) run(hay []byte, from, to int, anchored, earliest bool) (end int, r Result) {
	if from < 0 || from > to || to > len(hay) || c.f.fwd.AnchoredStart && from > 0 {
		return -1, NoMatch
	}
	m := c.fwd
	m.live = m.live[:0]
	m.thrashed = false
	before := kindEdge
	if from > 0 {
		before = kindOf(hay[from-1])
	}
	unsure := m.p.Looks.HasAny(nfa.LooksUnicode)
	if unsure && before == kindHigh {
		return -1, GaveUp
	}
	s := m.startState(anchored, before)
	if s == m.special(rowDead) {
		return -1, NoMatch
	}
	last := -1
	home := ^uint32(0) // the state to skip from; none yet
	if c.f.skip && !anchored {
		home = s
	}
	base, limit, mark := m.base(), m.limit(), from
	for i := from; i < to; {
		if i > from && c.Stop != nil && c.Stop() {
			return -1, Stopped
		}
		text := hay[:min(to, i+pollBytes)]
		ahead := text // how far next may search without calling Stop
		if c.f.literal {
			ahead = hay[:to] // not cut at text's end, which a literal may cross; and many times faster
		}
		if s == home {
			i = c.f.next(ahead, i)
		}
		for i < len(text) {
			entered, stop := s, min(len(text), i+loopBytes)
			if home == ^uint32(0) {
				s, i = plainSteps(base, &m.cols, limit, s, text[:stop], i)
			}
			for ; i < stop; i++ {
				// s is the id of a row in the table and a column is less than a row's length, so the
				// entry exists.
				e := *(*uint32)(unsafe.Add(base, uintptr(s)+4*uintptr(m.cols[text[i]])))
				if e >= limit {
					if e&matchBit == 0 {
						if s = e; s == home {
							i = c.f.next(ahead, i+1) - 1
						}
						continue
					}
					if last = i; earliest {
						return last, Match
					}
					s = e &^ matchBit
					continue
				}
				if e == rowUnknown {
					m.scanned += i - mark
					mark = i
					e = m.build(s, text[i])
					if home != ^uint32(0) {
						home = m.startState(false, before)
					}
					base, limit = m.base(), m.limit()
					entered = ^uint32(0) // the table may have been cleared
					if m.thrashed {
						return -1, GaveUp
					}
				}
				if e&matchBit != 0 {
					last = i
					if earliest {
						return last, Match
					}
					e &^= matchBit
				}
				if e == m.special(rowDead) {
					m.scanned += i - mark
					return verdict(last)
				}
				if e == m.special(rowQuit) {
					return -1, GaveUp
				}
				s = e
			}
			if s != entered || i != stop {
				continue
			}
			if l := m.loopAt(s); l != nil {
				j := l.next(text, i)
				if l.match && j > i {
					last = j - 1
				}
				i = j
			}
			base, limit = m.base(), m.limit()
		}
	}
	m.scanned += to - mark
	if to < len(hay) {
		e := m.step(s, hay[to])
		if e == m.special(rowQuit) {
			return -1, GaveUp
		}
		if e&matchBit != 0 {
			last = to
		}
	} else if m.ends(s) {
		last = to
	}
	return verdict(last)
}

// plainSteps reads bytes until it meets an entry that needs more than a change of state, and
// returns the state and offset there. Handling four bytes at a time saves half of the instructions.
func plainSteps(base unsafe.Pointer, cols *[256]uint8, limit, s uint32, text []byte, i int) (uint32, int) {
	for ; i+4 <= len(text); i += 4 {
		// As in run, each entry exists.
		b := text[i : i+4 : i+4]
		e := *(*uint32)(unsafe.Add(base, uintptr(s)+4*uintptr(cols[b[0]])))
		if e < limit || e&matchBit != 0 {
			return s, i
		}
		f := *(*uint32)(unsafe.Add(base, uintptr(e)+4*uintptr(cols[b[1]])))
		if f < limit || f&matchBit != 0 {
			return e, i + 1
		}
		g := *(*uint32)(unsafe.Add(base, uintptr(f)+4*uintptr(cols[b[2]])))
		if g < limit || g&matchBit != 0 {
			return f, i + 2
		}
		h := *(*uint32)(unsafe.Add(base, uintptr(g)+4*uintptr(cols[b[3]])))
		if h < limit || h&matchBit != 0 {
			return g, i + 3
		}
		s = h
	}
	return s, i
}

// nextFirst returns the offset of the first byte at or after i that can begin a match.
func (f *Finder) nextFirst(text []byte, i int) int {
	for i < len(text) && !f.fwd.First[text[i]] {
		i++
	}
	return i
}

func verdict(last int) (int, Result) {
	if last < 0 {
		return -1, NoMatch
	}
	return last, Match
}

// startOf runs backwards from the end of a match to the leftmost start of all matches with
// this end. The preferred match starts there too.
func (c *FindCache) startOf(hay []byte, from, end int) (start int, r Result) {
	if c.rev == nil {
		c.rev = newMachine(c.f.rev, modeReverse, c.f.rlook, c.f.rcl, c.f.cacheSize)
	}
	m := c.rev
	m.live = m.live[:0]
	m.thrashed = false
	after := kindEdge
	if end < len(hay) {
		after = kindOf(hay[end])
	}
	s := m.startState(true, after)
	last := -1
	base, limit, mark := m.base(), m.limit(), end
	for i, poll := end-1, end-pollBytes; i >= from; {
		if i < poll {
			if c.Stop != nil && c.Stop() {
				return -1, Stopped
			}
			poll = i - pollBytes
		}
		entered, stop := s, max(from-1, i-loopBytes)
		for ; i > stop; i-- {
			e := *(*uint32)(unsafe.Add(base, uintptr(s)+4*uintptr(m.cols[hay[i]])))
			if e >= limit {
				if e&matchBit != 0 {
					last = i + 1
				}
				s = e &^ matchBit
				continue
			}
			if e == rowUnknown {
				m.scanned += mark - i
				mark = i
				e = m.build(s, hay[i])
				base, limit = m.base(), m.limit()
				entered = ^uint32(0) // the table may have been cleared
				if m.thrashed {
					return -1, GaveUp
				}
			}
			if e&matchBit != 0 {
				last = i + 1
				e &^= matchBit
			}
			if e == m.special(rowDead) {
				return verdict(last)
			}
			if e == m.special(rowQuit) {
				return -1, GaveUp
			}
			s = e
		}
		if s != entered {
			continue
		}
		if l := m.loopAt(s); l != nil {
			j := l.last(hay, from, i+1)
			if l.match && j < i {
				last = j + 2
			}
			i = j
		}
		base, limit = m.base(), m.limit()
	}
	m.scanned += mark - from
	if from > 0 {
		e := m.step(s, hay[from-1])
		if e == m.special(rowQuit) {
			return -1, GaveUp
		}
		if e&matchBit != 0 {
			last = from
		}
	} else if m.ends(s) {
		last = from
	}
	return verdict(last)
}
