package hir

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

var lookNames = [NumLook]string{
	"none", "start", "end", "start-line", "end-line", "start-crlf", "end-crlf",
	"start-line-js", "end-line-js", "word-ascii", "not-word-ascii", "word", "not-word",
	"word-start-ascii", "word-end-ascii", "word-start", "word-end",
	"word-start-half-ascii", "word-end-half-ascii", "word-start-half", "word-end-half",
}

func (l Look) String() string {
	if int(l) < len(lookNames) {
		return lookNames[l]
	}
	return fmt.Sprintf("look(%d)", uint8(l))
}

// String is a compact S-expression, made for tests:
//
//	(cat "ab" [0-9a-f] (rep 0 inf b[\xFF]) (rep? 1 3 "x") (cap 1 name (alt start empty)))
//
// A class of bytes has a b before it, a lazy repetition a question mark.
func (n *Node) String() string {
	var b strings.Builder
	n.print(&b)
	return b.String()
}

func (n *Node) print(b *strings.Builder) {
	switch n.Op {
	case OpEmpty:
		b.WriteString("empty")
	case OpFail:
		b.WriteString("fail")
	case OpLiteral:
		b.WriteString(strconv.Quote(string(n.Lit)))
	case OpClass:
		b.WriteString(n.Class.String())
	case OpLook:
		b.WriteString(n.Look.String())
	case OpRepeat:
		b.WriteString("(rep")
		if !n.Greedy {
			b.WriteByte('?')
		}
		fmt.Fprintf(b, " %d ", n.Min)
		if n.Max == Unlimited {
			b.WriteString("inf")
		} else {
			b.WriteString(strconv.Itoa(n.Max))
		}
		n.printSubs(b)
	case OpCapture:
		fmt.Fprintf(b, "(cap %d", n.Cap)
		if n.Name != "" {
			b.WriteString(" " + n.Name)
		}
		n.printSubs(b)
	case OpConcat:
		b.WriteString("(cat")
		n.printSubs(b)
	case OpAlt:
		b.WriteString("(alt")
		n.printSubs(b)
	default:
		fmt.Fprintf(b, "op(%d)", uint8(n.Op))
	}
}

func (n *Node) printSubs(b *strings.Builder) {
	for _, s := range n.Subs {
		b.WriteByte(' ')
		s.print(b)
	}
	b.WriteByte(')')
}

// String lists the ranges in brackets, values that aren't plain ASCII as
// \x{…}, those of a byte class as \xNN.
func (c *Class) String() string {
	var b strings.Builder
	if c.Bytes {
		b.WriteByte('b')
	}
	b.WriteByte('[')
	for _, r := range c.Ranges {
		c.printValue(&b, r.Lo)
		if r.Hi > r.Lo {
			if r.Hi > r.Lo+1 {
				b.WriteByte('-')
			}
			c.printValue(&b, r.Hi)
		}
	}
	b.WriteByte(']')
	return b.String()
}

func (c *Class) printValue(b *strings.Builder, r rune) {
	switch {
	case r == '-' || r == '[' || r == ']' || r == '\\':
		b.WriteByte('\\')
		b.WriteRune(r)
	case r > ' ' && r < 0x7F:
		b.WriteRune(r)
	case r <= 0xFF:
		fmt.Fprintf(b, `\x%02X`, r)
	default:
		fmt.Fprintf(b, `\x{%X}`, r)
	}
}

// Equal reports whether two trees are the same node by node.
func (n *Node) Equal(o *Node) bool {
	if n == o {
		return true
	}
	if n.Op != o.Op || !bytes.Equal(n.Lit, o.Lit) || n.Look != o.Look ||
		n.Min != o.Min || n.Max != o.Max || n.Greedy != o.Greedy ||
		n.Cap != o.Cap || n.Name != o.Name || (n.Class == nil) != (o.Class == nil) {
		return false
	}
	if n.Class != nil && !n.Class.Equal(o.Class) {
		return false
	}
	return slices.EqualFunc(n.Subs, o.Subs, (*Node).Equal)
}

// Check reports the first invariant of the package the tree breaks, nil when
// it keeps them all. It is for tests of what builds trees.
func (n *Node) Check() error {
	if err := n.checkFields(); err != nil {
		return fmt.Errorf("%v: %w", n, err)
	}
	for _, s := range n.Subs {
		if s == nil {
			return fmt.Errorf("%v: nil sub", n.Op)
		}
		if (n.Op == OpConcat || n.Op == OpAlt) && s.Op == n.Op {
			return fmt.Errorf("%v: nested in its own kind", n)
		}
		if err := s.Check(); err != nil {
			return err
		}
	}
	return nil
}

// numSubs is how many subs each Op has; two stands for two or more.
var numSubs = [...]int{OpRepeat: 1, OpCapture: 1, OpConcat: 2, OpAlt: 2}

func (n *Node) checkFields() error {
	if int(n.Op) >= len(numSubs) {
		return fmt.Errorf("unknown op")
	}
	if want := numSubs[n.Op]; len(n.Subs) != want && !(want == 2 && len(n.Subs) > 2) {
		return fmt.Errorf("%d subs", len(n.Subs))
	}
	switch {
	case (n.Op == OpLiteral) != (len(n.Lit) > 0):
		return fmt.Errorf("literal of %d bytes", len(n.Lit))
	case (n.Op == OpClass) != (n.Class != nil):
		return fmt.Errorf("class set or missing")
	case (n.Op == OpLook) != (n.Look != LookNone) || int(n.Look) >= NumLook:
		return fmt.Errorf("look %d", n.Look)
	case (n.Op == OpCapture) != (n.Cap > 0) || n.Op != OpCapture && n.Name != "":
		return fmt.Errorf("group %d %q", n.Cap, n.Name)
	case n.Min < 0 || n.Max < Unlimited || n.Max != Unlimited && n.Min > n.Max:
		return fmt.Errorf("bounds {%d,%d}", n.Min, n.Max)
	case n.Op != OpRepeat && (n.Min != 0 || n.Max != 0 || n.Greedy):
		return fmt.Errorf("bounds outside a repetition")
	}
	if n.Op == OpClass {
		return n.Class.check()
	}
	return nil
}

func (c *Class) check() error {
	if len(c.Ranges) == 0 {
		return fmt.Errorf("empty class")
	}
	limit, last := rune(utf8.MaxRune), rune(-2)
	if c.Bytes {
		limit = 0xFF
	}
	for _, r := range c.Ranges {
		switch {
		case r.Lo > r.Hi || r.Lo < 0 || r.Hi > limit:
			return fmt.Errorf("range %X-%X", r.Lo, r.Hi)
		case r.Lo <= last+1:
			return fmt.Errorf("range %X-%X out of order or touching", r.Lo, r.Hi)
		case !c.Bytes && r.Lo <= surrogateHi && r.Hi >= surrogateLo:
			return fmt.Errorf("range %X-%X holds surrogates", r.Lo, r.Hi)
		}
		last = r.Hi
	}
	return nil
}
