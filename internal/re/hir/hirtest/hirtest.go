// Package hirtest prints, compares and checks the trees of package hir for tests of the
// parsers. Only tests import it.
package hirtest

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"quarry/internal/re/hir"
)

// Show formats a tree as a compact S-expression:
//
//	(cat "ab" [0-9a-f] (rep 0 inf b[\xFF]) (rep? 1 3 "x") (cap 1 name (alt start empty)))
//
// A class of bytes is preceded by a b, a lazy repetition is marked by a question mark.
func Show(n *hir.Node) string {
	var b strings.Builder
	show(&b, n)
	return b.String()
}

func show(b *strings.Builder, n *hir.Node) {
	switch n.Op {
	case hir.OpEmpty:
		b.WriteString("empty")
	case hir.OpFail:
		b.WriteString("fail")
	case hir.OpLiteral:
		b.WriteString(strconv.Quote(string(n.Lit)))
	case hir.OpClass:
		fmt.Fprint(b, n.Class) // may be nil in a broken tree
	case hir.OpLook:
		b.WriteString(n.Look.String())
	case hir.OpRepeat:
		b.WriteString("(rep")
		if !n.Greedy {
			b.WriteByte('?')
		}
		fmt.Fprintf(b, " %d ", n.Min)
		if n.Max == hir.Unlimited {
			b.WriteString("inf")
		} else {
			b.WriteString(strconv.Itoa(n.Max))
		}
		showSubs(b, n)
	case hir.OpCapture:
		fmt.Fprintf(b, "(cap %d", n.Cap)
		if n.Name != "" {
			b.WriteString(" " + n.Name)
		}
		showSubs(b, n)
	case hir.OpConcat:
		b.WriteString("(cat")
		showSubs(b, n)
	case hir.OpAlt:
		b.WriteString("(alt")
		showSubs(b, n)
	default:
		fmt.Fprintf(b, "op(%d)", uint8(n.Op))
	}
}

func showSubs(b *strings.Builder, n *hir.Node) {
	for _, s := range n.Subs {
		b.WriteByte(' ')
		show(b, s)
	}
	b.WriteByte(')')
}

// Equal reports whether two trees are equal, node by node.
func Equal(n, o *hir.Node) bool {
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
	return slices.EqualFunc(n.Subs, o.Subs, Equal)
}

// Check reports the first invariant of package hir that a tree breaks, or nil.
func Check(n *hir.Node) error {
	if err := checkFields(n); err != nil {
		return fmt.Errorf("%s: %w", Show(n), err)
	}
	for _, s := range n.Subs {
		if s == nil {
			return fmt.Errorf("%v: nil sub", n.Op)
		}
		if (n.Op == hir.OpConcat || n.Op == hir.OpAlt) && s.Op == n.Op {
			return fmt.Errorf("%s: nested in its own kind", Show(n))
		}
		if err := Check(s); err != nil {
			return err
		}
	}
	return nil
}

// numSubs is the number of subs of each Op; two means two or more.
var numSubs = [...]int{hir.OpRepeat: 1, hir.OpCapture: 1, hir.OpConcat: 2, hir.OpAlt: 2}

func checkFields(n *hir.Node) error {
	if int(n.Op) >= len(numSubs) {
		return fmt.Errorf("unknown op")
	}
	if want := numSubs[n.Op]; len(n.Subs) != want && !(want == 2 && len(n.Subs) > 2) {
		return fmt.Errorf("%d subs", len(n.Subs))
	}
	switch {
	case (n.Op == hir.OpLiteral) != (len(n.Lit) > 0):
		return fmt.Errorf("literal of %d bytes", len(n.Lit))
	case (n.Op == hir.OpClass) != (n.Class != nil):
		return fmt.Errorf("class set or missing")
	case (n.Op == hir.OpLook) != (n.Look != hir.LookNone) || int(n.Look) >= hir.NumLook:
		return fmt.Errorf("look %d", n.Look)
	case (n.Op == hir.OpCapture) != (n.Cap > 0) || n.Op != hir.OpCapture && n.Name != "":
		return fmt.Errorf("group %d %q", n.Cap, n.Name)
	case n.Min < 0 || n.Max < hir.Unlimited || n.Max != hir.Unlimited && n.Min > n.Max:
		return fmt.Errorf("bounds {%d,%d}", n.Min, n.Max)
	case n.Op != hir.OpRepeat && (n.Min != 0 || n.Max != 0 || n.Greedy):
		return fmt.Errorf("bounds outside a repetition")
	}
	if n.Op == hir.OpClass {
		return CheckClass(n.Class)
	}
	return nil
}

// CheckClass reports the first invariant that a class breaks.
func CheckClass(c *hir.Class) error {
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
		case !c.Bytes && r.Lo <= 0xDFFF && r.Hi >= 0xD800:
			return fmt.Errorf("range %X-%X holds surrogates", r.Lo, r.Hi)
		}
		last = r.Hi
	}
	return nil
}
