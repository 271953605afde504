package glob

import "math/bits"

// An item is one op of a part, or a group: ?(a|b), *(a|b), +(a|b), @(a|b), !(a|b).
type item struct {
	kind  itemKind
	op    op
	class byte
	alts  [][]item
}

type itemKind uint8

const (
	itemOp itemKind = iota
	itemExt
)

// A group may end at many positions, so matching tracks the set of reached positions instead
// of backtracking: each item maps a set to a set. The sets are values, so nothing is
// allocated. Names longer than maxName match no extglob. File systems don't allow such names:
// the longest, 255 UTF-16 units, takes 765 bytes.
const maxName = 1024

type posSet [maxName / 64]uint64

func (p *posSet) add(i int)      { p[i>>6] |= 1 << (i & 63) }
func (p *posSet) has(i int) bool { return p[i>>6]&(1<<(i&63)) != 0 }

// next returns the first member at or after i, or -1.
func (p *posSet) next(i int) int {
	for w := i >> 6; w < len(p); w++ {
		x := p[w]
		if w == i>>6 {
			x &= ^uint64(0) << (i & 63)
		}
		if x != 0 {
			return w<<6 + bits.TrailingZeros64(x)
		}
	}
	return -1
}

func (p *posSet) union(q *posSet) {
	for i := range p {
		p[i] |= q[i]
	}
}

// minus removes q's members from p and reports whether any are left.
func (p *posSet) minus(q *posSet) bool {
	left := uint64(0)
	for i := range p {
		p[i] &^= q[i]
		left |= p[i]
	}
	return left != 0
}

func matchExt(items []item, s string) bool {
	if len(s) >= maxName || s == "" {
		return false
	}
	var start posSet
	start.add(0)
	end := reach(items, s, start)
	return end.has(len(s))
}

// reach returns the positions where the items can end if they begin at a position in from.
// Sets are passed by value, because pointers would escape in the recursion.
func reach(items []item, s string, from posSet) posSet {
	for i := range items {
		if it := &items[i]; it.kind == itemExt {
			from = it.reach(s, from)
		} else {
			from = reachOp(&it.op, s, from)
		}
	}
	return from
}

func reachOp(o *op, s string, from posSet) (to posSet) {
	if o.kind == opStar {
		for i := from.next(0); i >= 0; i += width(s[i:]) {
			to.add(i)
			if i == len(s) {
				break
			}
		}
		return to
	}
	for i := from.next(0); i >= 0; i = from.next(i + 1) {
		if n := o.step(s[i:]); n >= 0 {
			to.add(i + n)
		}
	}
	return to
}

func reachAny(alts [][]item, s string, from posSet) (to posSet) {
	for _, a := range alts {
		end := reach(a, s, from)
		to.union(&end)
	}
	return to
}

func (it *item) reach(s string, from posSet) (to posSet) {
	switch it.class {
	case '@':
		to = reachAny(it.alts, s, from)
	case '?':
		to = reachAny(it.alts, s, from)
		to.union(&from)
	case '*', '+':
		if it.class == '*' {
			to = from
		}
		for {
			end := reachAny(it.alts, s, from)
			if !end.minus(&to) {
				break
			}
			to.union(&end)
			from = end
		}
	case '!':
		for i := from.next(0); i >= 0; i = from.next(i + 1) {
			var start posSet
			start.add(i)
			ends := reachAny(it.alts, s, start)
			for j := i; ; j += width(s[j:]) {
				if !ends.has(j) {
					to.add(j)
				}
				if j == len(s) {
					break
				}
			}
		}
	}
	return to
}
