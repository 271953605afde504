package vec

// automaton is the Aho-Corasick automaton: a trie of the literals in which each node also points to
// the longest suffix of its text that is in the trie. It takes linear time for all texts and literals,
// at about 0.2 GB/s. It takes over after too many failed comparisons of the faster searches.
type automaton struct {
	nodes []node
	root  [256]uint32 // children of the root, or the root itself
	fold  *[256]byte
}

type node struct {
	child, sibling uint32 // 0: none
	fail           uint32 // the node of the longest proper suffix in the trie
	out            uint32 // the first node with a literal, from this node along fail; 0: none
	depth          uint32
	lit            int32 // position in litSet.lits, or -1
	b              byte
}

func newAutomaton(s *litSet) *automaton {
	a := &automaton{nodes: []node{{lit: -1}}}
	if s.fold {
		a.fold = &lower
	}
	for i := range s.lits {
		at := uint32(0)
		for _, b := range s.lits[i].text {
			at = a.grow(at, b)
		}
		a.nodes[at].lit = int32(i)
	}
	a.link()
	return a
}

// grow returns the child of node at for byte b, adding it if missing.
func (a *automaton) grow(at uint32, b byte) uint32 {
	if c := a.child(at, b); c != 0 {
		return c
	}
	c := uint32(len(a.nodes))
	a.nodes = append(a.nodes, node{b: b, depth: a.nodes[at].depth + 1, lit: -1})
	if at == 0 {
		a.root[b] = c
	} else {
		a.nodes[c].sibling, a.nodes[at].child = a.nodes[at].child, c
	}
	return c
}

// child returns the child of node at for byte b, or 0.
func (a *automaton) child(at uint32, b byte) uint32 {
	if at == 0 {
		return a.root[b]
	}
	c := a.nodes[at].child
	for c != 0 && a.nodes[c].b != b {
		c = a.nodes[c].sibling
	}
	return c
}

// next returns the node after node at and byte b.
func (a *automaton) next(at uint32, b byte) uint32 {
	for {
		c := a.child(at, b)
		if c != 0 || at == 0 {
			return c
		}
		at = a.nodes[at].fail
	}
}

// link sets fail and out of all nodes, parents before children.
func (a *automaton) link() {
	queue := make([]uint32, 0, len(a.nodes))
	for _, c := range a.root {
		if c != 0 {
			queue = append(queue, c)
		}
	}
	for i := 0; i < len(queue); i++ {
		n := &a.nodes[queue[i]]
		n.out = a.nodes[n.fail].out
		if n.lit >= 0 {
			n.out = queue[i]
		}
		for c := n.child; c != 0; c = a.nodes[c].sibling {
			a.nodes[c].fail = a.next(n.fail, a.nodes[c].b)
			queue = append(queue, c)
		}
	}
}

// find is Teddy.Find. A node's text ends at the current position, and any match still open begins
// within it. So if the node's text doesn't begin before the best match, that match is the leftmost.
func (a *automaton) find(hay []byte, from int, s *litSet) (pos, lit int) {
	best := -1
	at := uint32(0)
	for i := from; i < len(hay); i++ {
		at = a.next(at, a.at(hay[i]))
		n := &a.nodes[at]
		if n.out != 0 {
			if start := i + 1 - int(a.nodes[n.out].depth); best < 0 || start < best {
				best = start
			}
		}
		if best >= 0 && i+1-int(n.depth) >= best {
			break
		}
	}
	if best < 0 {
		return -1, -1
	}
	return best, s.lits[a.lowest(hay[best:])].index
}

// lowest returns the first literal of the set that is a prefix of b; there must be one.
func (a *automaton) lowest(b []byte) int32 {
	low := int32(-1)
	at := uint32(0)
	for _, c := range b {
		if at = a.child(at, a.at(c)); at == 0 {
			break
		}
		if l := a.nodes[at].lit; l >= 0 && (low < 0 || l < low) {
			low = l
		}
	}
	return low
}

func (a *automaton) at(b byte) byte {
	if a.fold == nil {
		return b
	}
	return a.fold[b]
}
