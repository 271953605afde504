package ecma

import (
	"quarry/internal/re/hir"
	"quarry/internal/re/syntax"
)

// Parsed returns the tree in the form that every engine takes. Non-regular parts are widened,
// and Superset is set: look-around becomes empty, and a reference may match anything that its
// group may match.
//
// Two rules of JavaScript differ from other engines. After the required iterations of a repetition, an
// empty one is refused: if that could change the span, Superset is set. Groups are unset at the start
// of each iteration, also of a refused one: if that could change only groups, CapturesDiffer is set.
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

// ahead appends to list the contents of the look-aheads that every match requires.
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

	// sets caches the result of always for each repetition. Repetitions nest, and always
	// examines everything inside one.
	sets map[*Node]bool
}

// maxCopy is the largest number of nodes that a reference copies from its group. A larger
// group, and a reference inside a copy, becomes "any text": otherwise groups of references to
// groups of references would double with each level.
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
		return hir.Empty() // the copy is discarded
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
		// The copy is at another position, where assertions that held around the group's text
		// may not hold.
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
	l.superset = true // no other engine has these word characters
	return hir.Empty()
}

// look returns an empty node. Its groups stay in the tree, as {0}, for the sake of the indices.
func (l *lowering) look(n *Node) *hir.Node {
	if l.copying || n.CapLo == n.CapHi {
		return hir.Empty()
	}
	return hir.Repeat(l.node(n.Subs[0]), 0, 0, true)
}

// backref returns a copy of the group, or an empty node if the group may be unset.
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

// copy returns a node for all texts that compare equal to a text of the group. Copies are
// cached, because there may be as many references as characters.
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

// longestText is longer than any searched text, in bytes.
const longestText = 1 << 30

// repeat lowers a repetition. JavaScript allows counts that no text can reach. Such a maximum
// means no limit. With such a minimum nothing matches unless an iteration can be empty; if it
// can, one iteration suffices as the minimum, and none if an iteration can be empty everywhere.
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

// checkRepeat sets superset or captures if a repetition has another meaning in the other
// engines, which let an empty iteration end the loop.
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
