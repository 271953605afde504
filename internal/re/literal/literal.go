// Package literal finds strings that every match contains.
//
// From a pattern's tree it derives a Need: a formula of literals that every matching text
// satisfies. The formula may be too weak but is never too strong, so skipping texts that fail
// it misses nothing. If the pattern is just a finite set of strings, the result lists them,
// and the matcher needs no automaton.
package literal

import (
	"strings"
	"unicode/utf8"

	"quarry/internal/re/hir"
)

const (
	// maxCross limits the number of strings in a product of parts. One pass of the
	// multi-literal kernel takes 64.
	maxCross = 64
	// maxUnion limits a plain alternation of strings. Beyond it the automaton is faster than
	// the matcher for large sets.
	maxUnion = 4096
	// maxBytes limits the total length of one set.
	maxBytes = 256 << 10
	// maxJoined limits the length of a string joined from parts. Each join copies the previous
	// parts, so a megabyte of case-insensitive letters took minutes, and a search gains
	// nothing from such a long literal.
	maxJoined = 2 << 10
	// maxClass is the largest class whose members are listed. Digits fit; letters don't:
	// searching for 26 literals in one pass costs more than the rest of a pattern saves.
	maxClass = 16
	// maxClauses limits the formula; further clauses are dropped, which only weakens it.
	maxClauses = 64
)

// Lit is one string. With Fold set it means all its case variants under simple case folding,
// and Text is folded. With ASCII set, k and s mean only their ASCII variants, without the
// Kelvin sign and the long s, as with (?-u) and in ECMAScript.
type Lit struct {
	Text        string
	Fold, ASCII bool
}

// Set is a list of strings, in order of preference; one of them must occur.
type Set []Lit

// Op is the kind of a Need.
type Op uint8

const (
	Any   Op = iota // every text qualifies
	Never           // no text qualifies
	OneOf           // the text contains one of Set
	And             // all Subs hold
	Or              // one of Subs holds
)

// Need is the formula. The zero value is Any.
type Need struct {
	Op   Op
	Set  Set     // OneOf
	Subs []*Need // And, Or: two or more
}

// Result is the result of Extract.
type Result struct {
	Need *Need

	// Exact, if not nil, lists all possible matches, in order of preference. Loose is set if it lists
	// too many, because an assertion was dropped or cases were merged. Then a hit must be verified.
	Exact Set
	Loose bool

	// Prefix, if not nil, lists the strings with which matches begin, ignoring
	// assertions. Unless it has an empty string, it is a clause of Need.
	Prefix Set
}

// Also adds to r the needs of trees, which must also match in the same text.
func (r *Result) Also(trees []*hir.Node) {
	var all []*Need
	for _, n := range append([]*Need{r.Need}, needs(trees)...) {
		if n.Op != Any {
			all = append(all, n)
		}
	}
	r.Need = and(all)
}

func needs(trees []*hir.Node) (list []*Need) {
	for _, n := range trees {
		list = append(list, Extract(n).Need)
	}
	return list
}

// Extract derives the literals of a tree.
func Extract(n *hir.Node) Result {
	b := &builder{cur: Set{{}}, whole: true}
	b.visit(n)
	if b.never {
		return Result{Need: &Need{Op: Never}}
	}
	if b.whole {
		return Result{Need: oneOf(b.cur), Exact: b.cur, Loose: b.loose, Prefix: b.cur}
	}
	b.flush()
	return Result{Need: and(b.clauses), Prefix: b.prefix}
}

// builder walks a sequence from left to right. cur has all possible strings between the last
// gap and the current position. A gap is a node that isn't a small finite set: it turns cur
// into a clause and starts a new cur.
type builder struct {
	cur     Set
	clauses []*Need
	prefix  Set  // cur at the first gap, unless the string before it may be empty
	whole   bool // no gap so far: cur is the whole pattern
	loose   bool
	never   bool
}

func (b *builder) gap() {
	if b.whole && !hasEmpty(b.cur) {
		b.prefix = b.cur
	}
	b.flush()
	b.whole = false
}

func (b *builder) flush() {
	if need := oneOf(b.cur); need.Op != Any {
		b.add(need)
	}
	b.cur = Set{{}}
}

func (b *builder) add(n *Need) {
	switch {
	case n.Op == Never:
		b.never = true
	case n.Op != Any && len(b.clauses) < maxClauses:
		b.clauses = append(b.clauses, n)
	}
}

// extend appends each string of set to each string of cur. If the product grows too large, cur
// becomes a separate clause and set the next cur.
func (b *builder) extend(set Set, loose bool) {
	product, mixed, ok := cross(b.cur, set)
	if !ok {
		b.gap()
		product = set
	}
	b.cur = product
	b.loose = b.loose || mixed || loose
}

func (b *builder) visit(n *hir.Node) {
	if b.never {
		return
	}
	switch n.Op {
	case hir.OpEmpty:
	case hir.OpFail:
		b.never = true
	case hir.OpLook:
		b.loose = true
	case hir.OpCapture:
		b.visit(n.Subs[0])
	case hir.OpConcat:
		for _, sub := range n.Subs {
			b.visit(sub)
		}
	case hir.OpRepeat:
		b.repeat(n)
	default: // literal, class, alternation
		if set, loose, ok := finite(n); ok {
			b.extend(set, loose)
			return
		}
		b.gap()
		if n.Op == hir.OpAlt {
			b.add(alternatives(n))
		}
	}
}

// repeat handles repetitions for which finite fails. A match of X{n,} begins and ends with n
// copies of X, so the copies extend the strings before and after it.
func (b *builder) repeat(n *hir.Node) {
	if set, loose, ok := finite(n); ok {
		b.extend(set, loose)
		return
	}
	sub := n.Subs[0]
	if n.Min == 0 {
		b.gap()
		return
	}
	set, loose, ok := finite(sub)
	if !ok {
		b.visit(sub)
		b.gap()
		return
	}
	b.extend(set, loose)
	for i := 1; i < n.Min && i < maxClass; i++ {
		b.extend(set, loose)
	}
	b.gap()
	b.cur = set
}

// alternatives returns the need of an alternation that isn't a finite set.
func alternatives(n *hir.Node) *Need {
	var subs []*Need
	for _, alt := range n.Subs {
		need := Extract(alt).Need
		switch need.Op {
		case Any:
			return need
		case Never:
		default:
			subs = append(subs, need)
		}
		if len(subs) > maxClauses {
			return &Need{}
		}
	}
	return or(subs)
}

// finite lists the strings that a node can match, if they are few. loose reports that the list
// may have other strings as well.
func finite(n *hir.Node) (set Set, loose, ok bool) {
	switch n.Op {
	case hir.OpEmpty:
		return Set{{}}, false, true
	case hir.OpLook:
		return Set{{}}, true, true
	case hir.OpFail:
		return nil, false, false
	case hir.OpLiteral:
		return Set{{Text: string(n.Lit)}}, false, len(n.Lit) <= maxBytes
	case hir.OpClass:
		return classStrings(n.Class)
	case hir.OpCapture:
		return finite(n.Subs[0])
	case hir.OpConcat:
		return finiteConcat(n)
	case hir.OpAlt:
		return finiteAlt(n)
	case hir.OpRepeat:
		return finiteRepeat(n)
	}
	return nil, false, false
}

func finiteConcat(n *hir.Node) (Set, bool, bool) {
	out, loose := Set{{}}, false
	for _, sub := range n.Subs {
		set, l, ok := finite(sub)
		if !ok {
			return nil, false, false
		}
		product, mixed, ok := cross(out, set)
		if !ok {
			return nil, false, false
		}
		out, loose = product, loose || l || mixed
	}
	return out, loose, true
}

func finiteAlt(n *hir.Node) (Set, bool, bool) {
	var out Set
	loose, size := false, 0
	for _, sub := range n.Subs {
		if sub.Op == hir.OpFail {
			continue
		}
		set, l, ok := finite(sub)
		if !ok || len(out)+len(set) > maxUnion {
			return nil, false, false
		}
		for _, lit := range set {
			size += len(lit.Text)
		}
		if size > maxBytes {
			return nil, false, false
		}
		out, loose = append(out, set...), loose || l
	}
	if len(out) == 0 {
		return nil, false, false
	}
	return out, loose, true
}

func finiteRepeat(n *hir.Node) (Set, bool, bool) {
	if n.Max == hir.Unlimited || n.Max > maxCross {
		return nil, false, false
	}
	sub, loose, ok := finite(n.Subs[0])
	if !ok || hasEmpty(sub) {
		return nil, false, false
	}
	power := Set{{}}
	var powers []Set // sub^Min … sub^Max
	for i := 0; ; i++ {
		if i >= n.Min {
			powers = append(powers, power)
		}
		if i == n.Max {
			break
		}
		product, mixed, ok := cross(power, sub)
		if !ok {
			return nil, false, false
		}
		power, loose = product, loose || mixed
	}
	if len(powers) > 1 && len(sub) > 1 {
		// The preference order of aXbX… is interleaved, and reproducing it isn't worth it. The
		// set of strings is right, so verifying each hit suffices.
		loose = true
	}
	if n.Greedy {
		for i, j := 0, len(powers)-1; i < j; i, j = i+1, j-1 {
			powers[i], powers[j] = powers[j], powers[i]
		}
	}
	var out Set
	for _, p := range powers {
		if len(out)+len(p) > maxCross {
			return nil, false, false
		}
		out = append(out, p...)
	}
	return out, loose, true
}

// cross concatenates every string of x with every string of y. mixed reports that a folded
// string was joined with one that isn't, so that the product had to fold both.
func cross(x, y Set) (out Set, mixed, ok bool) {
	if len(x) == 1 && x[0].Text == "" {
		return y, false, true
	}
	if len(y) == 1 && y[0].Text == "" {
		return x, false, true
	}
	if len(x)*len(y) > maxCross {
		return nil, false, false
	}
	size := 0
	out = make(Set, 0, len(x)*len(y))
	for _, a := range x {
		for _, b := range y {
			lit, m, ok := join(a, b)
			if !ok {
				return nil, false, false
			}
			mixed = mixed || m
			size += len(lit.Text)
			out = append(out, lit)
		}
	}
	return out, mixed, size <= maxBytes
}

// join concatenates two strings. It fails if the result would be folded and a part isn't
// UTF-8, because folding may change such bytes if they form a letter with their neighbours.
func join(a, b Lit) (lit Lit, mixed, ok bool) {
	if len(a.Text)+len(b.Text) > maxJoined {
		return Lit{}, false, false
	}
	if !a.Fold && !b.Fold {
		return Lit{Text: a.Text + b.Text}, false, true
	}
	for _, l := range []*Lit{&a, &b} {
		if l.Fold {
			continue
		}
		if !utf8.ValidString(l.Text) {
			return Lit{}, false, false
		}
		if hasCase(l.Text) {
			l.Text, mixed = FoldString(l.Text), true
		}
	}
	lit = Lit{Text: a.Text + b.Text, Fold: true, ASCII: a.ASCII || b.ASCII}
	if lit.ASCII && (!a.ASCII && HasOddCase(a.Text) || !b.ASCII && HasOddCase(b.Text)) {
		lit.ASCII, mixed = false, true
	}
	return lit, mixed, true
}

// HasOddCase reports whether s has a letter with case variants both in ASCII and beyond: k
// and the Kelvin sign, s and the long s.
func HasOddCase(s string) bool { return strings.ContainsAny(s, "kKsS") }

func hasEmpty(s Set) bool {
	for _, lit := range s {
		if lit.Text == "" {
			return true
		}
	}
	return false
}

func oneOf(s Set) *Need {
	if hasEmpty(s) {
		return &Need{}
	}
	return &Need{Op: OneOf, Set: s}
}

func and(subs []*Need) *Need {
	switch len(subs) {
	case 0:
		return &Need{}
	case 1:
		return subs[0]
	}
	return &Need{Op: And, Subs: subs}
}

func or(subs []*Need) *Need {
	switch len(subs) {
	case 0:
		return &Need{Op: Never}
	case 1:
		return subs[0]
	}
	return &Need{Op: Or, Subs: subs}
}
