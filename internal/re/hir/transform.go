package hir

import (
	"bytes"
	"errors"
)

// ErrLineFeed reports a pattern with a literal line feed, which can't match within a line.
var ErrLineFeed = errors.New(`the pattern contains a line feed, which a search by lines can never match`)

// LineMode returns the tree for a search by lines, where each line without its line feed is a
// separate text. Classes lose the line feed, and the start and end of text or line become the
// start and end of line. A literal line feed gives ErrLineFeed. n isn't changed.
func LineMode(n *Node) (*Node, error) {
	switch n.Op {
	case OpLiteral:
		if bytes.IndexByte(n.Lit, '\n') >= 0 {
			return nil, ErrLineFeed
		}
	case OpClass:
		if n.Class.Contains('\n') {
			lf := &Class{Bytes: n.Class.Bytes, Ranges: []Range{{'\n', '\n'}}}
			return OneOf(n.Class.Difference(lf)), nil
		}
	case OpLook:
		switch n.Look {
		case LookStart, LookStartCRLF:
			return Assert(LookStartLine), nil
		case LookEnd, LookEndCRLF:
			return Assert(LookEndLine), nil
		}
	}
	if len(n.Subs) == 0 {
		return n, nil
	}
	subs := make([]*Node, len(n.Subs))
	same := true
	for i, s := range n.Subs {
		t, err := LineMode(s)
		if err != nil {
			return nil, err
		}
		subs[i], same = t, same && t == s
	}
	if same {
		return n, nil
	}
	switch n.Op {
	case OpRepeat:
		return Repeat(subs[0], n.Min, n.Max, n.Greedy), nil
	case OpCapture:
		return Capture(subs[0], n.Cap, n.Name), nil
	case OpConcat:
		return Concat(subs...), nil
	}
	return Alt(subs...), nil
}

// WholeWord returns a tree that matches n only if no word character is directly before or
// after the match. unicode selects Unicode's word characters instead of ASCII's. Unlike with
// \b, the match itself need not begin or end with a word character.
func WholeWord(n *Node, unicode bool) *Node {
	if unicode {
		return Concat(Assert(LookWordStartHalfUnicode), n, Assert(LookWordEndHalfUnicode))
	}
	return Concat(Assert(LookWordStartHalfASCII), n, Assert(LookWordEndHalfASCII))
}

// WholeLine returns a tree that matches n only if the match is a whole line. If crlf is set, a
// line ends before \r\n as well.
func WholeLine(n *Node, crlf bool) *Node {
	if crlf {
		return Concat(Assert(LookStartCRLF), n, Assert(LookEndCRLF))
	}
	return Concat(Assert(LookStartLine), n, Assert(LookEndLine))
}
