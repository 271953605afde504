package hir

import (
	"math"
	"unicode/utf8"
)

// MinLen is a lower bound in bytes of every match, and the exact minimum
// but for assertions that can't hold together. It stops at math.MaxInt32.
func (n *Node) MinLen() int {
	switch n.Op {
	case OpLiteral:
		return len(n.Lit)
	case OpClass:
		if n.Class.Bytes {
			return 1
		}
		return utf8.RuneLen(n.Class.Ranges[0].Lo)
	case OpCapture:
		return n.Subs[0].MinLen()
	case OpRepeat:
		if n.Min == 0 {
			return 0
		}
		return satMul(n.Subs[0].MinLen(), n.Min)
	case OpConcat:
		sum := 0
		for _, s := range n.Subs {
			sum = satAdd(sum, s.MinLen())
		}
		return sum
	case OpAlt:
		least := math.MaxInt32
		for _, s := range n.Subs {
			least = min(least, s.MinLen())
		}
		return least
	}
	return 0
}

// MaxLen is an upper bound in bytes of every match; ok is false when there
// is none, or none under math.MaxInt32.
func (n *Node) MaxLen() (length int, ok bool) {
	switch n.Op {
	case OpLiteral:
		return len(n.Lit), true
	case OpClass:
		if n.Class.Bytes {
			return 1, true
		}
		return utf8.RuneLen(n.Class.Ranges[len(n.Class.Ranges)-1].Hi), true
	case OpCapture:
		return n.Subs[0].MaxLen()
	case OpRepeat:
		if n.Max == 0 {
			return 0, true
		}
		l, ok := n.Subs[0].MaxLen()
		if !ok || l > 0 && n.Max == Unlimited {
			return 0, false
		}
		if l == 0 {
			return 0, true
		}
		l = satMul(l, n.Max)
		return l, l < math.MaxInt32
	case OpConcat:
		sum := 0
		for _, s := range n.Subs {
			l, ok := s.MaxLen()
			if !ok {
				return 0, false
			}
			sum = satAdd(sum, l)
		}
		return sum, sum < math.MaxInt32
	case OpAlt:
		most := 0
		for _, s := range n.Subs {
			l, ok := s.MaxLen()
			if !ok {
				return 0, false
			}
			most = max(most, l)
		}
		return most, true
	}
	return 0, true
}

func satAdd(a, b int) int {
	if a > math.MaxInt32-b {
		return math.MaxInt32
	}
	return a + b
}

func satMul(a, b int) int {
	if a != 0 && b > math.MaxInt32/a {
		return math.MaxInt32
	}
	return a * b
}

// CanBeEmpty reports whether some match may be empty: false means none is.
func (n *Node) CanBeEmpty() bool { return n.Op != OpFail && n.MinLen() == 0 }

// has reports whether f holds for a node of the tree.
func (n *Node) has(f func(*Node) bool) bool {
	if f(n) {
		return true
	}
	for _, s := range n.Subs {
		if s.has(f) {
			return true
		}
	}
	return false
}

// HasCapture reports whether a group is in the tree.
func (n *Node) HasCapture() bool {
	return n.has(func(n *Node) bool { return n.Op == OpCapture })
}

// HasLook reports whether an assertion is in the tree.
func (n *Node) HasLook() bool {
	return n.has(func(n *Node) bool { return n.Op == OpLook })
}

// Looks is the set of assertions in the tree, bit 1<<l for Look l.
func (n *Node) Looks() uint32 {
	var set uint32
	n.has(func(n *Node) bool {
		if n.Op == OpLook {
			set |= 1 << n.Look
		}
		return false
	})
	return set
}

// NumCaptures is the largest group index in the tree, 0 without groups.
func (n *Node) NumCaptures() int {
	most := 0
	n.has(func(n *Node) bool {
		if n.Op == OpCapture {
			most = max(most, n.Cap)
		}
		return false
	})
	return most
}

// PureLiteral returns the one string the tree matches, groups aside; ok is
// false when it isn't that simple. The bytes aren't to be changed.
func (n *Node) PureLiteral() (lit []byte, ok bool) {
	switch n.Op {
	case OpEmpty:
		return nil, true
	case OpLiteral:
		return n.Lit, true
	case OpCapture:
		return n.Subs[0].PureLiteral()
	case OpConcat:
		var all []byte
		for _, s := range n.Subs {
			l, ok := s.PureLiteral()
			if !ok {
				return nil, false
			}
			all = append(all, l...)
		}
		return all, true
	}
	return nil, false
}

// AnchoredStart reports that every match starts at the start of the text.
func (n *Node) AnchoredStart() bool { return n.anchored(LookStart) }

// AnchoredEnd reports that every match ends at the end of the text.
func (n *Node) AnchoredEnd() bool { return n.anchored(LookEnd) }

// anchored reports that l holds at that edge (LookStart: the first) of every
// match. Nothing that takes bytes may stand between l and the edge.
func (n *Node) anchored(l Look) bool {
	switch n.Op {
	case OpFail:
		return true
	case OpLook:
		return n.Look == l
	case OpCapture:
		return n.Subs[0].anchored(l)
	case OpRepeat:
		return n.Min > 0 && n.Subs[0].anchored(l)
	case OpAlt:
		for _, s := range n.Subs {
			if !s.anchored(l) {
				return false
			}
		}
		return true
	case OpConcat:
		for i := range n.Subs {
			s := n.Subs[i]
			if l == LookEnd {
				s = n.Subs[len(n.Subs)-1-i]
			}
			if s.anchored(l) {
				return true
			}
			if length, ok := s.MaxLen(); !ok || length > 0 {
				return false
			}
		}
	}
	return false
}
