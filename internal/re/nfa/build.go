package nfa

import (
	"errors"

	"quarry/internal/re/hir"
)

// compiler builds from the end of the pattern to its start: compile(n, next) returns the state
// that matches n and continues at next. So only loops need patching, and the UTF-8 automaton
// of a class can share its tails.
type compiler struct {
	p        *Prog
	opt      Options
	match    ID
	perState int // bytes charged per state, see newCompiler
	used     int // bytes charged so far
	since    int // bytes since the last call of opt.Stop
	err      error
	classes  map[*hir.Class]*classAuto
	small    map[[smallClass]hir.Range]*classAuto // by the ranges of a small class, because case-insensitive letters recur
}

var errStop = errors.New("limit passed")

func newCompiler(n *hir.Node, opt Options) *compiler {
	c := &compiler{
		p:       &Prog{Slots: 2, Reverse: opt.Reverse, UTF8: opt.UTF8},
		opt:     opt,
		classes: map[*hir.Class]*classAuto{},
		small:   map[[smallClass]hir.Range]*classAuto{},
	}
	if opt.Reverse {
		c.opt.NoCaptures = true
	}
	slots := 2 + 2*groups(n)
	if !c.opt.NoCaptures {
		c.p.Slots = slots
	}
	// The charge for a state covers the state with its share of edges (16 bytes), two
	// sparse-set entries of 8 bytes, and in the Pike VM two rows of positions, which store all
	// slots except the end of the match. It is the same with and without captures, so that
	// either all automata of a pattern fit or none does.
	c.perState = 16 + 16 + 2*8*(slots-1)
	c.p.States = make([]State, 0, 16)
	c.match = c.add(State{Op: OpMatch})
	return c
}

// groups returns the largest group index in the tree.
func groups(n *hir.Node) int {
	top := 0
	if n.Op == hir.OpCapture {
		top = n.Cap
	}
	for _, s := range n.Subs {
		top = max(top, groups(s))
	}
	return top
}

func (c *compiler) charge(bytes int) {
	if c.used += bytes; c.used > c.opt.SizeLimit {
		c.err = errStop
	}
	c.poll(bytes)
}

// poll counts the bytes built, and calls opt.Stop once per pollBytes.
func (c *compiler) poll(bytes int) {
	if c.since += bytes; c.since >= pollBytes && c.opt.Stop != nil && c.err == nil {
		c.since = 0
		c.err = c.opt.Stop()
	}
}

// pollBytes of states are built in less than a millisecond.
const pollBytes = 256 << 10

func (c *compiler) add(s State) ID {
	c.charge(c.perState)
	if c.err != nil {
		return c.match
	}
	c.p.States = append(c.p.States, s)
	return ID(len(c.p.States) - 1)
}

// reserve adds a state that is filled in later: the head of a loop.
func (c *compiler) reserve() ID { return c.add(State{Op: OpFail}) }

// visitBytes is charged for each visit of a node, which allows at most four million visits
// within the default limit.
const visitBytes = 16

func (c *compiler) compile(n *hir.Node, next ID) ID {
	// The charge per visit limits repetitions that add no state, as in
	// (?:(?:){1000}){1000}.
	if c.charge(visitBytes); c.err != nil {
		return next
	}
	switch n.Op {
	case hir.OpEmpty:
		return next
	case hir.OpFail:
		return c.add(State{Op: OpFail})
	case hir.OpLiteral:
		return c.literal(n.Lit, next)
	case hir.OpClass:
		return c.class(n.Class, next)
	case hir.OpLook:
		if c.opt.Relax.Has(n.Look) {
			return next
		}
		return c.add(State{Op: OpLook, Look: n.Look, A: next})
	case hir.OpCapture:
		return c.capture(n, next)
	case hir.OpConcat:
		return c.concat(n.Subs, next)
	case hir.OpAlt:
		return c.alt(n.Subs, next)
	case hir.OpRepeat:
		return c.repeat(n, next)
	}
	return c.add(State{Op: OpFail})
}

func (c *compiler) literal(lit []byte, next ID) ID {
	for i := range lit {
		b := lit[i]
		if !c.opt.Reverse {
			b = lit[len(lit)-1-i]
		}
		next = c.add(State{Op: OpRange, Lo: b, Hi: b, A: next})
		if c.err != nil {
			break
		}
	}
	return next
}

func (c *compiler) capture(n *hir.Node, next ID) ID {
	if c.opt.NoCaptures {
		c.charge(2 * c.perState) // charged as if it were built; see newCompiler
		return c.compile(n.Subs[0], next)
	}
	end := c.add(State{Op: OpCapture, A: next, B: ID(2*n.Cap + 1)})
	sub := c.compile(n.Subs[0], end)
	return c.add(State{Op: OpCapture, A: sub, B: ID(2 * n.Cap)})
}

func (c *compiler) concat(subs []*hir.Node, next ID) ID {
	for i := range subs {
		s := subs[i]
		if !c.opt.Reverse {
			s = subs[len(subs)-1-i]
		}
		next = c.compile(s, next)
	}
	return next
}

func (c *compiler) alt(subs []*hir.Node, next ID) ID {
	var ways []ID
	for i := 0; i < len(subs) && c.err == nil; {
		if n, id := c.shared(subs[i:], next); n > 0 {
			ways = append(ways, id)
			i += n
			continue
		}
		ways = append(ways, c.compile(subs[i], next))
		i++
	}
	return c.union(ways)
}

// minShared is the number of consecutive alternatives from which a trie pays.
const minShared = 3

// shared compiles the leading literals, or sequences, among subs into a trie. n is their
// number, or 0 if there are too few.
func (c *compiler) shared(subs []*hir.Node, next ID) (n int, id ID) {
	for n < len(subs) && (subs[n].Op == hir.OpLiteral || subs[n].Op == hir.OpEmpty) {
		n++
	}
	if n >= minShared {
		return n, c.literals(subs[:n], next)
	}
	var seqs [][][]hir.Range
	for _, s := range subs {
		seq, ok := sequence(s, nil)
		if !ok {
			break
		}
		seqs = append(seqs, seq)
	}
	if len(seqs) < minShared {
		return 0, 0
	}
	return len(seqs), c.sequences(seqs, next)
}

// union adds an ordered choice between ways.
func (c *compiler) union(ways []ID) ID {
	switch len(ways) {
	case 0:
		return c.add(State{Op: OpFail})
	case 1:
		return ways[0]
	case 2:
		return c.add(State{Op: OpSplit, A: ways[0], B: ways[1]})
	}
	c.charge(4 * len(ways))
	at := len(c.p.Alts)
	c.p.Alts = append(c.p.Alts, ways...)
	return c.add(State{Op: OpUnion, A: ID(at), B: ID(at + len(ways))})
}

// sparse adds a state that reads one byte by trans, which are sorted and disjoint.
func (c *compiler) sparse(trans []Trans) ID {
	switch len(trans) {
	case 0:
		return c.add(State{Op: OpFail})
	case 1:
		return c.add(State{Op: OpRange, Lo: trans[0].Lo, Hi: trans[0].Hi, A: trans[0].Next})
	}
	c.charge(8 * len(trans))
	at := len(c.p.Trans)
	c.p.Trans = append(c.p.Trans, trans...)
	return c.add(State{Op: OpSparse, A: ID(at), B: ID(at + len(trans))})
}

// split returns a choice that prefers more if greedy, otherwise on.
func (c *compiler) split(greedy bool, more, on ID) State {
	if greedy {
		return State{Op: OpSplit, A: more, B: on}
	}
	return State{Op: OpSplit, A: on, B: more}
}

func (c *compiler) repeat(n *hir.Node, next ID) ID {
	sub := n.Subs[0]
	if n.Max == 0 || sub.Op == hir.OpEmpty {
		return next
	}
	copies := n.Min
	cur := next
	if n.Max == hir.Unlimited {
		loop := c.reserve()
		body := c.compile(sub, loop)
		if c.err != nil {
			return next
		}
		c.p.States[loop] = c.split(n.Greedy, body, next)
		switch {
		case n.Min > 0:
			cur = body
			copies--
		case nullable(sub):
			// x* becomes (x+)? if x can be empty: an iteration that matches nothing must not
			// prevent trying the later alternatives of x.
			cur = c.add(c.split(n.Greedy, body, next))
		default:
			cur = loop
		}
	} else {
		for i := n.Min; i < n.Max && c.err == nil; i++ {
			body := c.compile(sub, cur)
			cur = c.add(c.split(n.Greedy, body, next))
		}
	}
	for i := 0; i < copies && c.err == nil; i++ {
		cur = c.compile(sub, cur)
	}
	return cur
}

// nullable reports whether n can match the empty string if all assertions hold.
func nullable(n *hir.Node) bool {
	switch n.Op {
	case hir.OpEmpty, hir.OpLook:
		return true
	case hir.OpRepeat:
		return n.Min == 0 || nullable(n.Subs[0])
	case hir.OpCapture:
		return nullable(n.Subs[0])
	case hir.OpConcat:
		for _, s := range n.Subs {
			if !nullable(s) {
				return false
			}
		}
		return true
	case hir.OpAlt:
		for _, s := range n.Subs {
			if nullable(s) {
				return true
			}
		}
	}
	return false
}

// finish fills in the properties of the whole automaton.
func (c *compiler) finish(n *hir.Node) {
	p := c.p
	var cuts byteSet
	for i := range p.States {
		s := &p.States[i]
		switch s.Op {
		case OpRange:
			cuts.cut(s.Lo, s.Hi)
		case OpLook:
			p.Looks |= 1 << s.Look
		}
	}
	for _, t := range p.Trans {
		cuts.cut(t.Lo, t.Hi)
	}
	if p.Looks != 0 {
		// These classes are fine enough for any assertion. The table gets slightly larger,
		// which doesn't matter for such patterns.
		cuts.cut('\n', '\n')
		cuts.cut('\r', '\r')
		cuts.cut(0x80, 0xFF)
	}
	if p.Looks.HasAny(LooksWord) {
		cuts.cut('0', '9')
		cuts.cut('A', 'Z')
		cuts.cut('_', '_')
		cuts.cut('a', 'z')
	}
	cuts.classes(p)
	p.firstBytes()
	p.AnchoredStart = begins(n, 1<<hir.LookStart)
	p.LineAnchored = begins(n, 1<<hir.LookStart|1<<hir.LookStartLine)
	p.AnchoredEnd = ends(n, 1<<hir.LookEnd)
}

// begins reports whether every match of n starts with an assertion of set.
func begins(n *hir.Node, set LookSet) bool { return edge(n, set, false) }

// ends reports whether every match of n ends with an assertion of set.
func ends(n *hir.Node, set LookSet) bool { return edge(n, set, true) }

func edge(n *hir.Node, set LookSet, atEnd bool) bool {
	switch n.Op {
	case hir.OpLook:
		return set.Has(n.Look)
	case hir.OpCapture:
		return edge(n.Subs[0], set, atEnd)
	case hir.OpRepeat:
		return n.Min > 0 && edge(n.Subs[0], set, atEnd)
	case hir.OpAlt:
		for _, s := range n.Subs {
			if !edge(s, set, atEnd) {
				return false
			}
		}
		return true
	case hir.OpConcat:
		for i := range n.Subs {
			s := n.Subs[i]
			if atEnd {
				s = n.Subs[len(n.Subs)-1-i]
			}
			if edge(s, set, atEnd) {
				return true
			}
			if s.Op != hir.OpLook && s.Op != hir.OpEmpty {
				return false
			}
		}
	}
	return false
}
