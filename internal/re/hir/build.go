package hir

import (
	"bytes"
	"unicode/utf8"
)

// The functions here build nodes that keep the package's invariants. They simplify only if the
// result matches the same texts with the same preference order and groups. A subtree with a
// group is never dropped, so every group index stays in the tree.

// Empty matches the empty string.
func Empty() *Node { return &Node{Op: OpEmpty} }

// Fail matches nothing.
func Fail() *Node { return &Node{Op: OpFail} }

// Literal matches exactly the bytes b, and keeps the slice.
func Literal(b []byte) *Node {
	if len(b) == 0 {
		return Empty()
	}
	return &Node{Op: OpLiteral, Lit: b}
}

// Scalar matches one scalar value. A surrogate or a value outside Unicode occurs in no UTF-8
// text, so it matches nothing.
func Scalar(r rune) *Node {
	if !utf8.ValidRune(r) {
		return Fail()
	}
	return Literal(utf8.AppendRune(nil, r))
}

// OneOf matches one value of the class: it is Fail for an empty class, and a literal for a
// single value.
func OneOf(c *Class) *Node {
	switch {
	case len(c.Ranges) == 0:
		return Fail()
	case len(c.Ranges) == 1 && c.Ranges[0].Lo == c.Ranges[0].Hi:
		if c.Bytes {
			return Literal([]byte{byte(c.Ranges[0].Lo)})
		}
		return Scalar(c.Ranges[0].Lo)
	}
	return &Node{Op: OpClass, Class: c}
}

// Assert matches the empty string where l holds.
func Assert(l Look) *Node {
	if l == LookNone {
		return Empty()
	}
	return &Node{Op: OpLook, Look: l}
}

// Capture records the text matched by sub as group i; groups count from 1.
func Capture(sub *Node, i int, name string) *Node {
	return &Node{Op: OpCapture, Cap: i, Name: name, Subs: []*Node{sub}}
}

// Repeat matches sub min to max times; max may be Unlimited. {0,0} gives Empty, except for a
// sub with groups, which stays in the tree.
func Repeat(sub *Node, min, max int, greedy bool) *Node {
	if sub.Op == OpEmpty {
		return sub
	}
	// Repeating a node that never consumes a byte has no effect.
	if max == Unlimited || max > 1 {
		if l, ok := sub.MaxLen(); ok && l == 0 {
			max = 1
			if min > 1 {
				min = 1
			}
		}
	}
	switch {
	case min == 1 && max == 1:
		return sub
	case max == 0 && !sub.HasCapture():
		return Empty()
	case sub.Op == OpFail && min > 0:
		return sub
	case sub.Op == OpFail:
		return Empty()
	}
	if n := joinRepeats(sub, min, max, greedy); n != nil {
		return n
	}
	return &Node{Op: OpRepeat, Min: min, Max: max, Greedy: greedy, Subs: []*Node{sub}}
}

// joinRepeats joins two nested simple repetitions, such as (a+)*, into one, or returns nil.
// They must have the same preference, and the inner sub must have no groups and always consume
// a byte. Then leaving the inner loop and entering it again reaches nothing that staying in it
// doesn't reach earlier.
func joinRepeats(sub *Node, min, max int, greedy bool) *Node {
	simple := func(min, max int) bool { return min <= 1 && (max == 1 || max == Unlimited) }
	if sub.Op != OpRepeat || sub.Greedy != greedy || !simple(min, max) || !simple(sub.Min, sub.Max) {
		return nil
	}
	inner := sub.Subs[0]
	if inner.MinLen() == 0 || inner.HasCapture() {
		return nil
	}
	if max == 1 {
		max = sub.Max
	}
	return &Node{Op: OpRepeat, Min: min * sub.Min, Max: max, Greedy: greedy, Subs: []*Node{inner}}
}

// Concat matches subs one after the other. It flattens nested concatenations, drops empty
// nodes and joins adjacent literals.
func Concat(subs ...*Node) *Node {
	out := make([]*Node, 0, len(subs))
	open := false // the last literal of out may be extended
	fail, captures := false, false
	add := func(n *Node) {
		switch n.Op {
		case OpEmpty:
			return
		case OpFail:
			fail = true
		case OpLiteral:
			if k := len(out); k > 0 && out[k-1].Op == OpLiteral {
				if !open {
					out[k-1] = &Node{Op: OpLiteral, Lit: bytes.Clone(out[k-1].Lit)}
					open = true
				}
				out[k-1].Lit = append(out[k-1].Lit, n.Lit...)
				return
			}
		}
		open = false
		out = append(out, n)
	}
	for _, n := range subs {
		if n.Op == OpConcat {
			for _, s := range n.Subs {
				add(s)
			}
			continue
		}
		add(n)
	}
	if fail {
		for _, n := range out {
			captures = captures || n.HasCapture()
		}
		if !captures {
			return Fail()
		}
	}
	switch len(out) {
	case 0:
		return Empty()
	case 1:
		return out[0]
	}
	return &Node{Op: OpConcat, Subs: out}
}

// Alt matches one of subs, preferring earlier ones. It flattens nested alternations and drops
// failing nodes. Adjacent nodes that each match a single value become one class: at a given
// position at most one value matches, so their order doesn't matter.
func Alt(subs ...*Node) *Node {
	out := make([]*Node, 0, len(subs))
	var run []*Node // adjacent subs that may become a class
	var bytesOnly, scalarOnly bool
	flush := func() {
		out = append(out, joinValues(run, bytesOnly)...)
		run, bytesOnly, scalarOnly = run[:0], false, false
	}
	add := func(n *Node) {
		if n.Op == OpFail {
			return
		}
		kind := valueKind(n)
		if kind == notOneValue || kind == oneByte && scalarOnly || kind == oneScalar && bytesOnly {
			flush()
		}
		if kind == notOneValue {
			out = append(out, n)
			return
		}
		bytesOnly = bytesOnly || kind == oneByte
		scalarOnly = scalarOnly || kind == oneScalar
		run = append(run, n)
	}
	for _, n := range subs {
		if n.Op == OpAlt {
			for _, s := range n.Subs {
				add(s)
			}
			continue
		}
		add(n)
	}
	flush()
	switch len(out) {
	case 0:
		return Fail()
	case 1:
		return out[0]
	}
	return &Node{Op: OpAlt, Subs: out}
}

type kind uint8

const (
	notOneValue kind = iota
	oneASCII         // a byte and a scalar value are the same
	oneScalar
	oneByte
)

// valueKind returns the kind of values that n matches, if n always matches a single value.
func valueKind(n *Node) kind {
	switch n.Op {
	case OpLiteral:
		switch r, size := utf8.DecodeRune(n.Lit); {
		case len(n.Lit) == 1 && n.Lit[0] < utf8.RuneSelf:
			return oneASCII
		case len(n.Lit) == 1:
			return oneByte
		case size == len(n.Lit) && r != utf8.RuneError, string(n.Lit) == "\uFFFD":
			return oneScalar
		}
	case OpClass:
		switch {
		case n.Class.IsASCII():
			return oneASCII
		case n.Class.Bytes:
			return oneByte
		}
		return oneScalar
	}
	return notOneValue
}

// joinValues joins adjacent nodes that match single values into one node.
func joinValues(run []*Node, bytes bool) []*Node {
	if len(run) < 2 {
		return run
	}
	var ranges []Range
	for _, n := range run {
		switch {
		case n.Op == OpClass:
			ranges = append(ranges, n.Class.Ranges...)
		case len(n.Lit) == 1:
			ranges = append(ranges, Range{rune(n.Lit[0]), rune(n.Lit[0])})
		default:
			r, _ := utf8.DecodeRune(n.Lit)
			ranges = append(ranges, Range{r, r})
		}
	}
	return []*Node{OneOf(canonical(bytes, ranges))}
}
