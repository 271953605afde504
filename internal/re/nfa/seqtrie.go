package nfa

import (
	"slices"
	"unicode/utf8"

	"quarry/internal/re/hir"
)

// seqNode is a common prefix of some sequences. A sequence is a pattern of fixed length, such
// as a case-insensitive word: a set of scalar values for each position. Alternatives of sequences
// share prefixes in a trie like literals (see trieNode), as long as two sets at one position
// are either equal or disjoint. Where they overlap, a new group begins.
type seqNode struct {
	groups []seqGroup
}

type seqGroup struct {
	edges []seqEdge
	ends  bool
}

type seqEdge struct {
	set  []hir.Range
	next int
}

// sequence converts n to a sequence, if possible.
func sequence(n *hir.Node, out [][]hir.Range) ([][]hir.Range, bool) {
	switch n.Op {
	case hir.OpEmpty:
		return out, true
	case hir.OpLiteral:
		if !utf8.Valid(n.Lit) {
			return nil, false
		}
		for _, r := range string(n.Lit) {
			out = append(out, []hir.Range{{Lo: r, Hi: r}})
		}
		return out, true
	case hir.OpClass:
		last := n.Class.Ranges[len(n.Class.Ranges)-1]
		if n.Class.Bytes && last.Hi >= utf8.RuneSelf {
			return nil, false
		}
		return append(out, n.Class.Ranges), true
	case hir.OpConcat:
		ok := true
		for _, s := range n.Subs {
			if out, ok = sequence(s, out); !ok {
				return nil, false
			}
		}
		return out, true
	}
	return nil, false
}

// sequences adds an ordered choice between sequences.
func (c *compiler) sequences(seqs [][][]hir.Range, next ID) ID {
	trie := []seqNode{{}}
	for _, seq := range seqs {
		if c.poll(c.perState * len(seq)); c.err != nil {
			return next
		}
		at := 0
		for i := range seq {
			set := seq[i]
			if c.opt.Reverse {
				set = seq[len(seq)-1-i]
			}
			at = seqStep(&trie, at, set)
			if len(trie)*c.perState > c.opt.SizeLimit {
				c.err = errStop
				return next
			}
		}
		n := &trie[at]
		if !slices.ContainsFunc(n.groups, func(g seqGroup) bool { return g.ends }) {
			if len(n.groups) == 0 {
				n.groups = append(n.groups, seqGroup{})
			}
			n.groups[len(n.groups)-1].ends = true
		}
	}
	ids := make([]ID, len(trie))
	for i := len(trie) - 1; i >= 0 && c.err == nil; i-- {
		var ways []ID
		for _, g := range trie[i].groups {
			ways = c.seqGroup(ways, g.edges, ids)
			if g.ends {
				ways = append(ways, next)
			}
		}
		ids[i] = c.union(ways)
	}
	return ids[0]
}

// seqGroup appends the ways of one group: one state for all its ASCII values, and a class for
// the other values of each edge.
func (c *compiler) seqGroup(ways []ID, edges []seqEdge, ids []ID) []ID {
	var trans []Trans
	var rest []ID
	for _, e := range edges {
		to := ids[e.next]
		var high []hir.Range
		for _, r := range e.set {
			if r.Lo < utf8.RuneSelf {
				trans = append(trans, Trans{byte(r.Lo), byte(min(r.Hi, utf8.RuneSelf-1)), to})
			}
			if r.Hi >= utf8.RuneSelf {
				high = append(high, hir.Range{Lo: max(r.Lo, utf8.RuneSelf), Hi: r.Hi})
			}
		}
		if len(high) > 0 {
			rest = append(rest, c.class(&hir.Class{Ranges: high}, to))
		}
	}
	if len(trans) > 0 {
		slices.SortFunc(trans, func(a, b Trans) int { return int(a.Lo) - int(b.Lo) })
		ways = append(ways, c.sparse(trans))
	}
	return append(ways, rest...)
}

// seqStep returns the node that follows node at on set, growing the trie if necessary.
func seqStep(trie *[]seqNode, at int, set []hir.Range) int {
	n := &(*trie)[at]
	fresh := len(n.groups) == 0 || n.groups[len(n.groups)-1].ends
	if !fresh {
		for _, e := range n.groups[len(n.groups)-1].edges {
			if slices.Equal(e.set, set) {
				return e.next
			}
			fresh = fresh || overlap(e.set, set)
		}
	}
	if fresh {
		n.groups = append(n.groups, seqGroup{})
	}
	g := &n.groups[len(n.groups)-1]
	id := len(*trie)
	g.edges = append(g.edges, seqEdge{set, id})
	*trie = append(*trie, seqNode{})
	return id
}

func overlap(a, b []hir.Range) bool {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].Hi < b[0].Lo:
			a = a[1:]
		case b[0].Hi < a[0].Lo:
			b = b[1:]
		default:
			return true
		}
	}
	return false
}
