package nfa

import (
	"unicode/utf8"

	"quarry/internal/re/hir"
)

// classAuto is the automaton of one class, built once and copied into the program wherever the
// class occurs. A node's edges lead to an earlier node or, with next == exit, out of the
// class. The last node is the start.
//
// The forward form is minimal: equal nodes are merged. \pL (over 600 ranges) is 290 nodes
// rather than some 1,300 byte sequences.
type classAuto struct {
	nodes [][]Trans
	// entries lists the first nodes of a reversed class, tried in parallel; nil in the
	// forward form.
	entries []ID
}

const exit = ^ID(0)

func (c *compiler) class(cl *hir.Class, next ID) ID {
	if cl.Bytes {
		return c.byteClass(cl, next)
	}
	auto := c.automaton(cl)
	ids := make([]ID, len(auto.nodes))
	var trans []Trans
	for i, node := range auto.nodes {
		trans = append(trans[:0], node...)
		for j := range trans {
			if trans[j].Next == exit {
				trans[j].Next = next
			} else {
				trans[j].Next = ids[trans[j].Next]
			}
		}
		ids[i] = c.sparse(trans)
		if c.err != nil {
			return next
		}
	}
	if auto.entries == nil {
		return ids[len(ids)-1]
	}
	ways := make([]ID, len(auto.entries))
	for i, e := range auto.entries {
		ways[i] = ids[e]
	}
	return c.union(ways)
}

// smallClass is the largest number of ranges for which equal classes share an automaton. A
// megabyte of case-insensitive letters has 26 such classes instead of a million, which took 700 MB.
const smallClass = 4

func (c *compiler) automaton(cl *hir.Class) *classAuto {
	var key [smallClass]hir.Range
	var auto *classAuto
	small := 0 < len(cl.Ranges) && len(cl.Ranges) <= smallClass
	if small {
		n := copy(key[:], cl.Ranges)
		for ; n < smallClass; n++ { // a repeated range adds nothing
			key[n] = key[n-1]
		}
		auto = c.small[key]
	} else {
		auto = c.classes[cl]
	}
	if auto != nil {
		return auto
	}
	auto = newClassAuto(cl)
	if c.opt.Reverse {
		auto = auto.reversed()
	}
	if small {
		c.small[key] = auto
	} else {
		c.classes[cl] = auto
	}
	return auto
}

func (c *compiler) byteClass(cl *hir.Class, next ID) ID {
	trans := make([]Trans, len(cl.Ranges))
	for i, r := range cl.Ranges {
		trans[i] = Trans{byte(r.Lo), byte(r.Hi), next}
	}
	return c.sparse(trans)
}

// utf8Builder builds a forward classAuto bottom up.
type utf8Builder struct {
	auto classAuto
	seen map[string]ID
	key  []byte
}

func newClassAuto(cl *hir.Class) *classAuto {
	b := &utf8Builder{seen: map[string]ID{}}
	var start []Trans
	// One group of lead bytes for each length of encoding.
	for _, g := range []struct {
		lo, hi rune // scalar values of this length
		lead   int  // first lead byte, for the value base
		base   rune
		more   int // continuation bytes
	}{
		{0, 0x7F, 0x00, 0, 0},
		{0x80, 0x7FF, 0xC0, 0, 1},
		{0x800, 0xFFFF, 0xE0, 0, 2},
		{0x10000, utf8.MaxRune, 0xF0, 0, 3},
	} {
		rs := clip(cl.Ranges, g.lo, g.hi)
		if len(rs) == 0 {
			continue
		}
		if g.more == 0 {
			for _, r := range rs {
				start = append(start, Trans{byte(r.Lo), byte(r.Hi), exit})
			}
			continue
		}
		start = append(start, b.blocks(rs, g.base, g.more, g.lead)...)
	}
	b.node(start)
	return &b.auto
}

// clip returns the parts of ranges within lo..hi, without surrogates.
func clip(ranges []hir.Range, lo, hi rune) []hir.Range {
	var out []hir.Range
	for _, r := range ranges {
		r.Lo, r.Hi = max(r.Lo, lo), min(r.Hi, hi)
		if r.Lo > r.Hi {
			continue
		}
		if r.Lo < 0xD800 && r.Hi > 0xDFFF {
			out = append(out, hir.Range{Lo: r.Lo, Hi: 0xD7FF}, hir.Range{Lo: 0xE000, Hi: r.Hi})
			continue
		}
		out = append(out, r)
	}
	return out
}

// blocks returns the edges of a node. base is the value of the bytes read before the node, and more
// is the number of bytes that follow the edge. There is one edge per block of 64^more values that rs
// overlaps, with equal neighbours joined. lead is the byte of the first block. blocks modifies rs.
func (b *utf8Builder) blocks(rs []hir.Range, base rune, more, lead int) []Trans {
	size := rune(1) << (6 * more)
	var out []Trans
	for len(rs) > 0 {
		block := (rs[0].Lo - base) / size
		lo := base + block*size
		hi := lo + size - 1
		var next ID
		last := block
		if rs[0].Lo == lo && rs[0].Hi >= hi {
			// Take as many whole blocks as the range has.
			last = (rs[0].Hi-base+1)/size - 1
			hi = base + (last+1)*size - 1
			next = b.any(more)
		} else {
			n := 1
			for n < len(rs) && rs[n].Lo <= hi {
				n++
			}
			part := append([]hir.Range(nil), rs[:n]...)
			part[n-1].Hi = min(part[n-1].Hi, hi)
			if more == 1 {
				next = b.node(tail(part, lo))
			} else {
				next = b.node(b.blocks(part, lo, more-1, 0x80))
			}
		}
		if n := len(out); n > 0 && out[n-1].Next == next && int(out[n-1].Hi)+1 == lead+int(block) {
			out[n-1].Hi = byte(lead + int(last))
		} else {
			out = append(out, Trans{byte(lead + int(block)), byte(lead + int(last)), next})
		}
		for len(rs) > 0 && rs[0].Hi <= hi {
			rs = rs[1:]
		}
		if len(rs) > 0 && rs[0].Lo <= hi {
			rs[0].Lo = hi + 1
		}
	}
	return out
}

// tail returns the edges that read the last byte.
func tail(rs []hir.Range, base rune) []Trans {
	out := make([]Trans, len(rs))
	for i, r := range rs {
		out[i] = Trans{byte(0x80 + r.Lo - base), byte(0x80 + r.Hi - base), exit}
	}
	return out
}

// any returns the node for k arbitrary continuation bytes.
func (b *utf8Builder) any(k int) ID {
	next := exit
	for range k {
		next = b.node([]Trans{{0x80, 0xBF, next}})
	}
	return next
}

// node returns the node with these edges, adding it if it is new.
func (b *utf8Builder) node(trans []Trans) ID {
	b.key = b.key[:0]
	for _, t := range trans {
		b.key = append(b.key, t.Lo, t.Hi, byte(t.Next), byte(t.Next>>8), byte(t.Next>>16), byte(t.Next>>24))
	}
	if id, ok := b.seen[string(b.key)]; ok {
		return id
	}
	id := ID(len(b.auto.nodes))
	b.auto.nodes = append(b.auto.nodes, trans)
	b.seen[string(b.key)] = id
	return id
}

// reversed reverses every edge. A graph that is deterministic forwards isn't so backwards:
// several nodes may end with the same byte, so all entries are tried in parallel. Making it
// deterministic would cost more than it saves in the few reverse DFA states that a search visits.
func (a *classAuto) reversed() *classAuto {
	// A forward edge u -b-> v becomes an edge that reads b and leads to u, in a reverse node
	// for v. The reverse node for v has all edges into v. They are grouped so that each group
	// is deterministic; duplicates of a byte go to extra nodes.
	n := len(a.nodes)
	start := ID(n - 1)
	into := make([][]Trans, n+1) // into[v], exit is n; Next is the source u
	for u, node := range a.nodes {
		for _, t := range node {
			v := n
			if t.Next != exit {
				v = int(t.Next)
			}
			into[v] = append(into[v], Trans{t.Lo, t.Hi, ID(u)})
		}
	}
	// Forward edges lead from later nodes to earlier ones, so reversed nodes are built
	// from the start backwards.
	r := &classAuto{entries: []ID{}}
	made := make([][]ID, n) // reversed nodes for forward node u
	emit := func(edges []Trans) []ID {
		var ids []ID
		for len(edges) > 0 {
			var node, rest []Trans
			for _, e := range edges {
				if clash(node, e) {
					rest = append(rest, e)
				} else {
					node = insert(node, e)
				}
			}
			ids = append(ids, ID(len(r.nodes)))
			r.nodes = append(r.nodes, node)
			edges = rest
		}
		return ids
	}
	resolve := func(edges []Trans) []Trans {
		var out []Trans
		for _, e := range edges {
			if e.Next == start {
				out = append(out, Trans{e.Lo, e.Hi, exit})
				continue
			}
			for _, id := range made[e.Next] {
				out = append(out, Trans{e.Lo, e.Hi, id})
			}
		}
		return out
	}
	for u := n - 2; u >= 0; u-- {
		made[u] = emit(resolve(into[u]))
	}
	r.entries = emit(resolve(into[n]))
	return r
}

// clash reports whether e shares a byte with an edge of node.
func clash(node []Trans, e Trans) bool {
	for _, t := range node {
		if e.Lo <= t.Hi && t.Lo <= e.Hi {
			return true
		}
	}
	return false
}

// insert adds e to node, which stays sorted.
func insert(node []Trans, e Trans) []Trans {
	i := len(node)
	node = append(node, e)
	for i > 0 && node[i-1].Lo > e.Lo {
		node[i] = node[i-1]
		i--
	}
	node[i] = e
	return node
}
