package ecma

import (
	"quarry/internal/re/hir"
	"quarry/internal/re/syntax"
)

// Parsed is the tree as every engine takes it. What a regular expression in
// the strict sense can't say is widened, and Superset set: look-around is
// empty, a reference may match all its group may.
//
// Two rules of JavaScript differ from the other engines'. An iteration after
// the required ones that takes nothing is refused: where that could change
// the span, Superset is set. Groups are unset at the start of each iteration
// and by refused ones: where that could change only them, CapturesDiffer is.
func (t *Tree) Parsed() *syntax.Parsed {
	l := &lowering{tree: t, groups: make([]*Node, len(t.Names)), sets: map[*Node]bool{}, copies: map[copyKey]*hir.Node{}}
	l.findGroups(t.Root)
	root := l.node(t.Root)
	parsed := &syntax.Parsed{Root: root, Names: t.Names, Superset: l.superset, CapturesDiffer: l.captures}
	if l.superset {
		parsed.Ahead = l.ahead(t.Root, nil)
	}
	return parsed
}

// ahead adds the contents of look-ahead that every match needs.
func (l *lowering) ahead(n *Node, list []*hir.Node) []*hir.Node {
	switch {
	case n.Kind == KindLook && !n.Negate && !n.Behind:
		list = append(list, l.node(n.Subs[0]))
	case n.Kind != KindConcat && n.Kind != KindGroup && (n.Kind != KindRepeat || n.Min == 0):
		return list
	}
	for _, s := range n.Subs {
		list = l.ahead(s, list)
	}
	return list
}

type lowering struct {
	tree     *Tree
	groups   []*Node
	superset bool
	captures bool

	// While copying a group for a reference:
	copying bool
	fold    Fold
	weight  int
	copies  map[copyKey]*hir.Node

	// sets remembers what always found for each repetition: repetitions nest,
	// and each asks about everything in it.
	sets map[*Node]bool
}

// maxCopy is how many nodes of a group a reference copies. A larger one, and
// a reference in a copy, becomes "any text": a group of references to
// groups of references would double with each.
const maxCopy = 200

func (l *lowering) findGroups(n *Node) {
	if n.Kind == KindGroup {
		l.groups[n.Cap] = n
	}
	for _, s := range n.Subs {
		l.findGroups(s)
	}
}

func (l *lowering) node(n *Node) *hir.Node {
	if l.weight++; l.copying && l.weight > maxCopy {
		return hir.Empty() // the copy is thrown away
	}
	switch n.Kind {
	case KindLiteral:
		if l.copying && l.fold != FoldNone {
			return l.foldedLiteral(n.Lit)
		}
		return hir.Literal(n.Lit)
	case KindSet:
		if l.copying {
			return hir.OneOf(closeOver(l.fold, n.Set))
		}
		return hir.OneOf(n.Set)
	case KindAssert:
		return l.assert(n.Assert)
	case KindLook:
		l.superset = true
		return l.look(n)
	case KindBackref:
		l.superset = true
		return l.backref(n)
	case KindGroup:
		sub := l.node(n.Subs[0])
		if l.copying {
			return sub
		}
		return hir.Capture(sub, n.Cap, l.tree.Names[n.Cap])
	case KindRepeat:
		if !l.copying {
			l.checkRepeat(n)
		}
		return l.repeat(n)
	case KindConcat:
		return hir.Concat(l.nodes(n.Subs)...)
	case KindAlt:
		return hir.Alt(l.nodes(n.Subs)...)
	}
	return hir.Empty()
}

func (l *lowering) nodes(subs []*Node) []*hir.Node {
	out := make([]*hir.Node, len(subs))
	for i, s := range subs {
		out[i] = l.node(s)
	}
	return out
}

func (l *lowering) foldedLiteral(lit []byte) *hir.Node {
	var seq []*hir.Node
	for _, r := range string(lit) {
		seq = append(seq, hir.OneOf(closeOver(l.fold, hir.NewClass(hir.Range{Lo: r, Hi: r}))))
	}
	l.weight += len(seq)
	return hir.Concat(seq...)
}

func (l *lowering) assert(a Assertion) *hir.Node {
	if l.copying {
		// The copy stands elsewhere: what held around the group's text
		// need not hold around this one.
		return hir.Empty()
	}
	switch a {
	case Start:
		return hir.Assert(hir.LookStart)
	case End:
		return hir.Assert(hir.LookEnd)
	case StartLine:
		return hir.Assert(hir.LookStartLineJS)
	case EndLine:
		return hir.Assert(hir.LookEndLineJS)
	case Word:
		return hir.Assert(hir.LookWordASCII)
	case NotWord:
		return hir.Assert(hir.LookNotWordASCII)
	}
	l.superset = true // no engine has these word characters
	return hir.Empty()
}

// look is empty; its groups stay in the tree, as {0}, for the indices.
func (l *lowering) look(n *Node) *hir.Node {
	if l.copying || n.CapLo == n.CapHi {
		return hir.Empty()
	}
	return hir.Repeat(l.node(n.Subs[0]), 0, 0, true)
}

// backref is a copy of the group, or empty where the group may be unset.
func (l *lowering) backref(n *Node) *hir.Node {
	if l.copying {
		return anyText()
	}
	alts := make([]*hir.Node, len(n.Groups))
	for i, g := range n.Groups {
		alts[i] = l.copy(copyKey{g, n.Fold})
	}
	return hir.Repeat(hir.Alt(alts...), 0, 1, true)
}

type copyKey struct {
	group int
	fold  Fold
}

func anyText() *hir.Node {
	return hir.Repeat(hir.OneOf(hir.AnyScalar()), 0, hir.Unlimited, true)
}

// copy is what compares equal to a text the group can match. Copies are kept:
// there may be as many references as there are characters.
func (l *lowering) copy(key copyKey) *hir.Node {
	if n := l.copies[key]; n != nil {
		return n
	}
	l.copying, l.fold, l.weight = true, key.fold, 0
	n := l.node(l.groups[key.group].Subs[0])
	l.copying = false
	if l.weight > maxCopy {
		n = anyText()
	}
	l.copies[key] = n
	return n
}

// longestText is more bytes than any text that is searched has.
const longestText = 1 << 30

// repeat lowers a repetition. Counts that no text can reach are legal in
// JavaScript: as a maximum they are none, and as a minimum nothing matches,
// unless an iteration may be empty. If it may be so anywhere, no minimum is needed.
// If an assertion decides, one of them is empty, at least; where all are, they stand
// at one place and one of them says the same.
func (l *lowering) repeat(n *Node) *hir.Node {
	sub, min, max := l.node(n.Subs[0]), n.Min, n.Max
	if max > longestText {
		max = hir.Unlimited
	}
	if min > longestText {
		if !sub.CanBeEmpty() {
			return hir.Concat(hir.Repeat(sub, 0, 0, true), hir.Fail())
		}
		switch min = 1; {
		case emptyAnywhere(n.Subs[0]):
			min = 0
		case n.body.only:
			max = 1
		default:
			l.superset = true
		}
	}
	return hir.Repeat(sub, min, max, n.Greedy)
}

// checkRepeat decides whether a repetition means something else to the other
// engines, which let an iteration that takes nothing end the loop.
func (l *lowering) checkRepeat(n *Node) {
	e := n.body
	optional := n.Max == hir.Unlimited || n.Max > n.Min
	if n.refusesEmpty() {
		l.superset = true
	}
	if n.CapLo == n.CapHi {
		return
	}
	if e.may && optional || n.Max != 0 && n.Max != 1 && !l.always(n.Subs[0]) {
		l.captures = true
	}
}
