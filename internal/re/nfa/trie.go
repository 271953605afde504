package nfa

import "quarry/internal/re/hir"

// trieNode is a common prefix of some literals. Its edges are in groups, in order of
// preference. A literal that ends here closes the current group, so a longer literal added
// later is less preferred. Within a group all edges read different bytes, so their order
// doesn't matter. Literals through the same edge keep their order below it.
type trieNode struct {
	groups []trieGroup
}

type trieGroup struct {
	edges []Trans // sorted; Next is an index into the trie
	ends  bool    // a literal ends after these edges
}

// literals adds an ordered choice between literals with shared prefixes: ten thousand words
// become a few branches at each state rather than a union of ten thousand.
func (c *compiler) literals(subs []*hir.Node, next ID) ID {
	trie := []trieNode{{}}
	for _, s := range subs {
		if c.poll(c.perState * len(s.Lit)); c.err != nil {
			return next
		}
		at := ID(0)
		for i := range s.Lit {
			b := s.Lit[i]
			if c.opt.Reverse {
				b = s.Lit[len(s.Lit)-1-i]
			}
			at = step(&trie, at, b)
			if len(trie)*c.perState > c.opt.SizeLimit {
				c.err = errStop
				return next
			}
		}
		trie[at].end()
	}
	// Children have larger indices than their parents.
	ids := make([]ID, len(trie))
	var ways []ID
	for i := len(trie) - 1; i >= 0 && c.err == nil; i-- {
		ways = ways[:0]
		for _, g := range trie[i].groups {
			if len(g.edges) > 0 {
				for j := range g.edges {
					g.edges[j].Next = ids[g.edges[j].Next]
				}
				ways = append(ways, c.sparse(g.edges))
			}
			if g.ends {
				ways = append(ways, next)
			}
		}
		if len(ways) == 1 && ways[0] == next {
			ids[i] = next
			continue
		}
		ids[i] = c.union(ways)
	}
	return ids[0]
}

// step returns the node that follows node at on b, growing the trie if necessary.
func step(trie *[]trieNode, at ID, b byte) ID {
	n := &(*trie)[at]
	if len(n.groups) == 0 || n.groups[len(n.groups)-1].ends {
		n.groups = append(n.groups, trieGroup{})
	}
	g := &n.groups[len(n.groups)-1]
	for _, e := range g.edges {
		if e.Lo == b {
			return e.Next
		}
	}
	id := ID(len(*trie))
	g.edges = insert(g.edges, Trans{b, b, id})
	*trie = append(*trie, trieNode{})
	return id
}

// end records that a literal ends at n. A second literal with the same bytes could never win,
// so it is ignored.
func (n *trieNode) end() {
	for _, g := range n.groups {
		if g.ends {
			return
		}
	}
	if len(n.groups) == 0 {
		n.groups = append(n.groups, trieGroup{})
	}
	n.groups[len(n.groups)-1].ends = true
}
