package match

import (
	"sync"

	"quarry/internal/re/hir"
	"quarry/internal/re/literal"
	"quarry/internal/re/nfa"
)

// bounded is a pattern with a Unicode word assertion at its start or end, as added by -w. No
// byte automaton can decide these assertions, but it can find the inside, the pattern without
// them. A match begins only where the inside has a match. So the leftmost match of the inside
// is the leftmost and preferred match of the pattern if the assertions hold around it. If they
// don't, the exact engine decides at that position.
type bounded struct {
	before, after hir.Look // LookNone if there is none
	strings       bool     // the inside is a set of strings, which are found faster than by an automaton
	inside        func() *Pattern
}

// newBounded splits a tree into the inside and its assertions. It returns nil if the tree
// doesn't have that form.
func newBounded(root *hir.Node, opts Options, lim limits) *bounded {
	if root.Op != hir.OpConcat || opts.Syntax == Words {
		return nil
	}
	b := &bounded{}
	subs := root.Subs
	if n := subs[0]; n.Op == hir.OpLook && nfa.LooksUnicode.Has(n.Look) {
		b.before, subs = n.Look, subs[1:]
	}
	if n := subs[len(subs)-1]; n.Op == hir.OpLook && nfa.LooksUnicode.Has(n.Look) && len(subs) > 1 {
		b.after, subs = n.Look, subs[:len(subs)-1]
	}
	inside := hir.Concat(subs...)
	if b.before == hir.LookNone && b.after == hir.LookNone || hasLook(inside, nfa.LooksUnicode) || holdsAt(inside, ^nfa.LookSet(0)) {
		return nil
	}
	found := literal.Extract(inside)
	b.strings = found.Exact != nil && !found.Loose
	// The inside is built on first use, because Unicode classes take a millisecond.
	b.inside = sync.OnceValue(func() *Pattern {
		plan, err := newPlan(&source{root: inside, names: []string{""}}, found, opts, lim)
		if err != nil {
			return nil // only an ended context fails here: the larger tree was within the limits
		}
		return &Pattern{opts: opts, names: []string{""}, plan: plan}
	})
	return b
}

// hasLook reports whether n has one of the assertions.
func hasLook(n *hir.Node, looks nfa.LookSet) bool {
	if n.Op == hir.OpLook {
		return looks.Has(n.Look)
	}
	if n.HasLook() {
		for _, s := range n.Subs {
			if hasLook(s, looks) {
				return true
			}
		}
	}
	return false
}

// holds reports whether the assertions hold around text[start:end].
func (b *bounded) holds(text []byte, start, end int) bool {
	return (b.before == hir.LookNone || nfa.Holds(b.before, text, start)) &&
		(b.after == hir.LookNone || nfa.Holds(b.after, text, end))
}

// boundedSpan is spanIn for a bounded pattern. known is false if too many matches of the
// inside aren't matches of the pattern.
func (m *Matcher) boundedSpan(text []byte, from, to int) (start, end int, ok, known bool) {
	b := m.p.plan.bounded
	if m.inside == nil {
		p := b.inside()
		if p == nil {
			return 0, 0, false, false
		}
		m.inside = &Matcher{p: p, search: m.search}
	}
	credit := boundedCredit
	for from <= to {
		start, end, ok = m.inside.insideSpan(text, from, to)
		if m.inside.err != nil {
			m.fail(m.inside.err)
			return 0, 0, false, true
		}
		if !ok {
			return 0, 0, false, true
		}
		if b.holds(text, start, end) {
			return start, end, true, true
		}
		if m.run(text, start, to, true, m.slots[:]) {
			return m.slots[0], m.slots[1], true, true
		}
		if m.err != nil {
			return 0, 0, false, true
		}
		// The next match will read the bytes of this one again.
		if credit += 8*(start+1-from) - (end - from) - missBytes; credit < 0 {
			return 0, 0, false, false
		}
		from = start + 1
	}
	return 0, 0, false, true
}

// boundedCredit is the number of bytes that boundedSpan may read without progress, in addition
// to the bytes it advances by.
const boundedCredit = 4 << 10

// insideSpan finds the first match of the inside in text[from:to].
func (m *Matcher) insideSpan(text []byte, from, to int) (start, end int, ok bool) {
	if to == len(text) {
		return m.span(text, from)
	}
	return m.spanIn(text, from, to)
}
