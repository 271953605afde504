package match

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"quarry/internal/re/backref"
	"quarry/internal/re/backtrack"
	"quarry/internal/re/dfa"
	"quarry/internal/re/hir"
	"quarry/internal/re/literal"
	"quarry/internal/re/nfa"
	"quarry/internal/re/onepass"
)

// plan is the search strategy for a pattern. All its parts are immutable.
type plan struct {
	// lines matches the pattern against many lines, in Lines mode. It lets a line end before
	// \r as well, so a line with a \r must be verified. With superset set, all lines must.
	lines *dfa.Lines

	// prog is the reference: it defines matches, spans and groups, unless back is set. In
	// Lines mode it is built on first use, because counting lines seldom needs it and Unicode
	// classes take a millisecond to build.
	prog func() *nfa.Prog

	// short runs prog on short texts, with groups, faster than the general engine.
	short func() *backtrack.Engine

	// onePass runs prog anchored at the start of a match, with groups, faster than short. It
	// returns nil if the pattern needs choices.
	onePass func() *onepass.Engine

	// find returns the finder of spans in one text, or nil if the reversed automaton is too large.
	find func() *dfa.Finder

	// pre finds candidates; it is nil if no prefilter helps. If whole is set, every hit is a match.
	pre   *prefilter
	whole bool

	// fromHit reports that a match in a line begins at a hit and does not depend on the text
	// before the hit.
	fromHit bool

	// reach is the length of the longest match. It is set with fromHit if matches are short;
	// each hit is then examined separately.
	reach int

	// looseEnd reports that lines lets a line end before \r. Only then does a \r inside a line matter.
	looseEnd bool

	// free reports that the pattern has no assertions, so a match in the first part of a line
	// is also a match in the whole line.
	free bool

	// fence holds the bytes that no match contains, in the modes for whole texts. It is nil if
	// there are none or they are too rare.
	fence *fence

	// cutter finds where a text may be cut, in Multiline mode; see Pattern.Cut.
	cutter func() *cutter

	// every reports that, in Lines mode, every line matches, at its start or at its end.
	every bool

	// bounded is set for a pattern with Unicode word assertions at its ends.
	bounded *bounded

	back     *backref.Program
	superset bool // back decides matches as well as groups

	// size is the size of the first automaton, in bytes. ended is set if prog could not be
	// built because the context of the pattern's Compiler has ended. Then nothing matches, and
	// a Matcher reports the error.
	size  int
	ended atomic.Pointer[error]
}

// limits are the limits of a plan.
type limits struct {
	size  int          // bytes of an automaton
	cache int          // bytes of a matcher's states; 0 is the default
	stop  func() error // returns an error when the work must end
}

func newPlan(src *source, found literal.Result, opts Options, lim limits) (*plan, error) {
	p := &plan{back: src.exact, superset: src.superset}
	caches := dfa.Options{CacheSize: lim.cache}
	var first *nfa.Prog
	var err error
	if opts.Mode == Lines {
		p.every = !p.superset && (holdsAt(src.root, atStart) || holdsAt(src.root, atEnd))
		wide := src.root
		if !opts.KeepCR {
			wide = mapLooks(wide, looseLineEnd)
		}
		if first, err = nfa.Compile(wide, nfa.Options{NoCaptures: true, UTF8: true, SizeLimit: lim.size, Stop: lim.stop}); err != nil {
			return nil, err
		}
		p.lines = dfa.NewLines(first, &caches)
		p.looseEnd = first.Looks.Has(hir.LookEndCRLF)
		p.free = first.Looks == 0
		p.prog = sync.OnceValue(func() *nfa.Prog {
			// The tree fitted into the limit with its groups. Without groups alternatives may
			// share less, so the limit is larger here.
			prog, err := nfa.Compile(src.root, nfa.Options{UTF8: true, SizeLimit: 4 * lim.size, Stop: lim.stop})
			if errors.Is(err, nfa.ErrTooLarge) {
				panic("match: " + err.Error())
			}
			if err != nil {
				p.ended.Store(&err)
				prog, _ = nfa.Compile(hir.Fail(), nfa.Options{UTF8: true})
			}
			return prog
		})
	} else {
		if first, err = nfa.Compile(src.root, nfa.Options{UTF8: true, SizeLimit: lim.size, Stop: lim.stop}); err != nil {
			return nil, err
		}
		p.prog = func() *nfa.Prog { return first }
		if !p.superset {
			p.fence = newFence(first)
		}
	}
	p.size = first.Size
	if first.Looks.HasAny(nfa.LooksUnicode) && !p.superset {
		p.bounded = newBounded(src.root, opts, lim)
	}
	p.short = sync.OnceValue(func() *backtrack.Engine { return backtrack.New(p.prog()) })
	p.onePass = sync.OnceValue(func() *onepass.Engine { return onepass.New(p.prog()) })
	p.find = sync.OnceValue(func() *dfa.Finder {
		reverse, err := nfa.Compile(src.root, nfa.Options{UTF8: true, Reverse: true, SizeLimit: lim.size, Stop: lim.stop})
		if err != nil {
			return nil
		}
		return dfa.NewFinder(p.prog(), reverse, &dfa.Options{CacheSize: lim.cache, Next: nextStart(found.Prefix, opts.Mode)})
	})
	if found.Exact != nil && !hasEmptyText(found.Exact) {
		p.pre = newPrefilter(found.Exact)
		p.whole = p.pre != nil && !found.Loose && !p.pre.loose && !p.superset
		if p.whole {
			return p, nil
		}
	}
	set := bestSet(found.Need)
	p.pre = newPrefilter(set)
	p.fromHit = p.pre != nil && first.Looks&^looksAhead == 0 && !p.superset && sameSet(set, found.Prefix)
	if most, ok := src.root.MaxLen(); ok && most <= maxReach && p.fromHit && !p.pre.oddCase {
		p.reach = most
	}
	if p.pre == nil {
		p.pre = firstBytes(first)
	}
	return p, nil
}

// anchored reports whether a match can begin only at the start of a text (in Lines mode: of a line).
func (p *plan) anchored() bool {
	prog := p.prog()
	return prog.AnchoredStart || p.lines != nil && prog.LineAnchored
}

// maxReach limits the text that is read again for each hit.
const maxReach = 256

// nextStart returns a function that finds the next possible start of a match, by searching for the
// strings with which all matches begin. It returns nil if that doesn't help, as in Lines mode.
func nextStart(prefix literal.Set, mode Mode) func(text []byte, from int) int {
	if mode == Lines || len(prefix) == 0 || hasEmptyText(prefix) || setFrequency(prefix) > commonHits {
		return nil
	}
	pre := newPrefilter(prefix)
	if pre == nil || pre.oddCase {
		return nil
	}
	return func(text []byte, from int) int {
		if hit, _ := pre.find(text, from); hit >= 0 {
			return hit
		}
		return len(text)
	}
}

// looksAhead is the set of assertions that don't depend on the preceding text.
const looksAhead nfa.LookSet = 1<<hir.LookEnd | 1<<hir.LookEndLine | 1<<hir.LookEndCRLF |
	1<<hir.LookWordEndHalfASCII | 1<<hir.LookWordEndHalfUnicode

// sameSet reports whether x and y are the same slice.
func sameSet(x, y literal.Set) bool {
	return len(x) > 0 && len(x) == len(y) && &x[0] == &y[0]
}

func hasEmptyText(set literal.Set) bool {
	for _, lit := range set {
		if lit.Text == "" {
			return true
		}
	}
	return false
}

// atStart and atEnd are the assertions that hold at the start and at the end of every line.
const (
	atStart nfa.LookSet = 1<<hir.LookStart | 1<<hir.LookStartLine | 1<<hir.LookStartCRLF
	atEnd   nfa.LookSet = 1<<hir.LookEnd | 1<<hir.LookEndLine | 1<<hir.LookEndCRLF
)

// holdsAt reports whether n has an empty match at every position where the assertions in looks hold.
func holdsAt(n *hir.Node, looks nfa.LookSet) bool {
	holds := func(s *hir.Node) bool { return holdsAt(s, looks) }
	switch n.Op {
	case hir.OpEmpty:
		return true
	case hir.OpLook:
		return looks.Has(n.Look)
	case hir.OpCapture:
		return holds(n.Subs[0])
	case hir.OpRepeat:
		return n.Min == 0 || holds(n.Subs[0])
	case hir.OpAlt:
		return slices.ContainsFunc(n.Subs, holds)
	case hir.OpConcat:
		return !slices.ContainsFunc(n.Subs, func(s *hir.Node) bool { return !holds(s) })
	}
	return false
}

// mapLooks returns the tree with each assertion l replaced by to(l).
func mapLooks(n *hir.Node, to func(hir.Look) hir.Look) *hir.Node {
	if n.Op == hir.OpLook {
		if l := to(n.Look); l != n.Look {
			return hir.Assert(l)
		}
		return n
	}
	if !n.HasLook() {
		return n
	}
	c := *n
	c.Subs = make([]*hir.Node, len(n.Subs))
	for i, s := range n.Subs {
		c.Subs[i] = mapLooks(s, to)
	}
	return &c
}

// looseLineEnd lets the end of a line match before \r as well, because the \r of a line ending
// is not part of the line.
func looseLineEnd(l hir.Look) hir.Look {
	if l == hir.LookEndLine {
		return hir.LookEndCRLF
	}
	return l
}

func (p *plan) describe() string {
	switch {
	case p.every:
		return "every line"
	case p.whole && p.pre.multi == nil:
		return "literal"
	case p.whole:
		return "literals"
	case p.superset && p.pre != nil:
		return "literals, then backtracking"
	case p.superset:
		return "automaton, then backtracking"
	case p.pre != nil && p.pre.bytes != nil:
		return "bytes, then automaton"
	case p.pre != nil:
		return "literals, then automaton"
	}
	return "automaton"
}
