package ecma

import (
	"slices"

	"quarry/internal/re/hir"
	"quarry/internal/re/ucd"
)

// Around is a condition on the text around a match.
type Around uint8

const (
	Anything  Around = iota
	WholeWord        // no Unicode word character next to the match
	WholeLine        // \n or an end of the text on both sides of the match

	// WholeLineCRLF is WholeLine where \r and \r\n also end a line, as with Rust's R flag.
	WholeLineCRLF
)

// Join makes one tree that matches whatever any of the trees matches, preferring earlier trees.
// Groups are numbered consecutively, and references still refer to groups of their own pattern.
func Join(trees []*Tree, around Around) *Tree {
	out := &Tree{Flags: trees[0].Flags, Names: []string{""}}
	alts := make([]*Node, len(trees))
	for i, t := range trees {
		alts[i] = shift(t.Root, len(out.Names)-1)
		out.Names = append(out.Names, t.Names[1:]...)
	}
	out.Root = newAlt(alts)
	var start, end *Node
	switch around {
	case WholeWord:
		next := hir.ScalarClass(ucd.Word()).Negate()
		start, end = edge(Start, next), edge(End, next)
	case WholeLine:
		start, end = edge(Start, one('\n')), edge(End, one('\n'))
	case WholeLineCRLF:
		between := func(behind, ahead *Node) *Node { return newConcat([]*Node{behind, ahead}) }
		start = newAlt([]*Node{edge(Start, one('\n')), between(look('\r', true, false), look('\n', false, true))})
		end = newAlt([]*Node{edge(End, one('\r')), between(look('\r', true, true), look('\n', false, false))})
	default:
		return out
	}
	out.Root = newConcat([]*Node{start, out.Root, end})
	annotate(out.Root)
	return out
}

func one(r rune) *hir.Class { return hir.NewClass(hir.Range{Lo: r, Hi: r}) }

// look makes a look-around for the single character r.
func look(r rune, behind, negate bool) *Node {
	return &Node{Kind: KindLook, Behind: behind, Negate: negate, Subs: []*Node{{Kind: KindSet, Set: one(r)}}}
}

// edge makes a node that matches the empty string at one end of the text and next to a
// character of set.
func edge(end Assertion, set *hir.Class) *Node {
	beside := &Node{Kind: KindLook, Behind: end == Start, Subs: []*Node{{Kind: KindSet, Set: set}}}
	return newAlt([]*Node{{Kind: KindAssert, Assert: end}, beside})
}

// shift returns a copy of the tree with its groups renumbered.
func shift(n *Node, by int) *Node {
	if by == 0 {
		return n
	}
	c := *n
	if n.Kind == KindGroup {
		c.Cap += by
	}
	c.CapLo, c.CapHi = n.CapLo+by, n.CapHi+by
	c.Groups = slices.Clone(n.Groups)
	for i := range c.Groups {
		c.Groups[i] += by
	}
	c.Subs = make([]*Node, len(n.Subs))
	for i, s := range n.Subs {
		c.Subs[i] = shift(s, by)
	}
	return &c
}
