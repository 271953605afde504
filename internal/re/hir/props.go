package hir

import (
	"math"
	"unicode/utf8"
)

// MinLen returns a lower bound on the length of every match, in bytes. It is exact, except for
// patterns with contradictory assertions. It is at most math.MaxInt32.
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

// MaxLen returns an upper bound on the length of every match, in bytes. ok is false if there
// is none up to math.MaxInt32.
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

// CanBeEmpty reports whether a match may be empty. If it returns false, none is.
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

// HasCapture reports whether the tree contains a group.
func (n *Node) HasCapture() bool {
	return n.has(func(n *Node) bool { return n.Op == OpCapture })
}

// HasLook reports whether the tree contains an assertion.
func (n *Node) HasLook() bool {
	return n.has(func(n *Node) bool { return n.Op == OpLook })
}
