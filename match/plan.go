package match

import (
	"errors"

	"quarry/internal/re/backref"
	"quarry/internal/re/dfa"
	"quarry/internal/re/hir"
	"quarry/internal/re/literal"
	"quarry/internal/re/nfa"
)

// plan is how a pattern is searched for. Every part of it is immutable.
type plan struct {
	// prog decides: matches, spans and groups are what it says, unless back
	// is set.
	prog *nfa.Prog

	// lines runs the pattern over many lines. It lets a line end before \r as
	// well, so a line with a \r has to be verified; with superset all do.
	lines *dfa.Lines

	// find gives spans in one text.
	find *dfa.Finder

	// pre finds candidates; nil when nothing helps. With whole set a hit is
	// a match.
	pre   *prefilter
	whole bool

	back     *backref.Program
	superset bool // back decides matches too, not only groups
}

func newPlan(src *source, found literal.Result, opts Options) (*plan, error) {
	p := &plan{back: src.exact, superset: src.superset}
	var err error
	compile := func(root *hir.Node, o nfa.Options) *nfa.Prog {
		o.SizeLimit = opts.SizeLimit
		o.UTF8 = true
		if err != nil {
			return nil
		}
		var prog *nfa.Prog
		prog, err = nfa.Compile(root, o)
		return prog
	}
	p.prog = compile(src.root, nfa.Options{})
	reverse := compile(src.root, nfa.Options{Reverse: true})
	if err == nil {
		p.find = dfa.NewFinder(p.prog, reverse, nil)
	}
	if err == nil && opts.Mode == Lines {
		wide := compile(mapLooks(src.root, looseLineEnd), nfa.Options{NoCaptures: true})
		if err == nil {
			p.lines = dfa.NewLines(wide, nil)
		}
	}
	if err != nil {
		return nil, tooLarge(err)
	}
	if found.Exact != nil && !hasEmptyText(found.Exact) {
		p.pre = newPrefilter(found.Exact)
		p.whole = p.pre != nil && !found.Loose && !p.pre.loose && !p.superset
		if p.whole {
			return p, nil
		}
	}
	p.pre = newPrefilter(bestSet(found.Need))
	if p.pre == nil {
		p.pre = firstBytes(p.prog)
	}
	return p, nil
}

func tooLarge(err error) error {
	e := &Error{Reason: err.Error()}
	if errors.Is(err, nfa.ErrTooLarge) {
		e.Hint = "Use smaller repetition counts, or (?-u) where Unicode classes aren't needed."
	}
	return e
}

func hasEmptyText(set literal.Set) bool {
	for _, lit := range set {
		if lit.Text == "" {
			return true
		}
	}
	return false
}

// mapLooks returns the tree with its assertions replaced.
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

// looseLineEnd lets a line end before \r as well: the text of a line doesn't
// have the \r of its ending.
func looseLineEnd(l hir.Look) hir.Look {
	if l == hir.LookEndLine {
		return hir.LookEndCRLF
	}
	return l
}

func (p *plan) describe() string {
	switch {
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
