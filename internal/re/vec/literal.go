package vec

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"sync"
)

// literal is one member of a set, prepared for comparison.
type literal struct {
	text                []byte // in lower case if folding
	index               int    // in the caller's list
	first, last         uint64 // as in pair
	firstMask, lastMask uint64
	fold                *[256]byte
}

func newLiteral(text []byte, index int, fold *[256]byte) literal {
	l := literal{text: text, index: index, fold: fold}
	if len(text) > 0 {
		mask := foldMask(text, fold)
		l.first, l.last = ends(text)
		l.firstMask, l.lastMask = ends(mask)
	}
	return l
}

// at reports whether the literal, which is not empty, is at hay[s:].
func (l *literal) at(hay []byte, s int) bool {
	n := len(l.text)
	if n > len(hay)-s {
		return false
	}
	window := hay[s : s+n]
	first, last := ends(window)
	if first|l.firstMask != l.first || last|l.lastMask != l.last {
		return false
	}
	return n <= 16 || equalFold(window[8:n-8], l.text[8:n-8], l.fold)
}

// litSet is a set of literals under leftmost-first rules: of the literals that begin at the
// same position, the one with the lowest index wins. So a literal with a prefix of lower index
// in the set is never reported, and is dropped.
type litSet struct {
	lits           []literal // by index
	fold           bool
	minLen, maxLen int
	hasZero        bool // a literal has a zero byte

	// hash and auto are built on first use, because most searches don't need them.
	hashOnce sync.Once
	hash     *hashed
	autoOnce sync.Once
	auto     *automaton
}

func newLitSet(lits [][]byte, fold bool) *litSet {
	s := &litSet{fold: fold}
	var table *[256]byte
	if fold {
		table = &lower
	}
	texts := make([][]byte, len(lits))
	for i, text := range lits {
		if texts[i] = bytes.Clone(text); fold {
			texts[i] = lowered(text)
		}
	}
	s.minLen = math.MaxInt
	for _, i := range reachable(texts) {
		s.lits = append(s.lits, newLiteral(texts[i], i, table))
		s.hasZero = s.hasZero || bytes.IndexByte(texts[i], 0) >= 0
		s.minLen, s.maxLen = min(s.minLen, len(texts[i])), max(s.maxLen, len(texts[i]))
	}
	return s
}

// reachable returns, in order, the indices of the texts that have no prefix of lower index
// among texts. In sorted order all prefixes of a text come before it, and each is a prefix of
// the next, so they form a stack.
func reachable(texts [][]byte) []int {
	order := make([]int, len(texts))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(bytes.Compare(texts[a], texts[b]), a-b)
	})
	var stack, keep []int // indices on the stack decrease from bottom to top
	for _, i := range order {
		for len(stack) > 0 && !bytes.HasPrefix(texts[i], texts[stack[len(stack)-1]]) {
			stack = stack[:len(stack)-1]
		}
		if len(stack) > 0 && stack[len(stack)-1] < i {
			continue
		}
		stack = append(stack, i)
		keep = append(keep, i)
	}
	slices.Sort(keep)
	return keep
}

// credit is the allowance for comparisons, in addition to four times the text passed. Beyond
// it the automaton takes over. It is enough for eight literals, as in findLong.
func (s *litSet) credit() int { return 8*s.maxLen + 256 }

// cost is the charge for comparing l: its full length if it has bytes between its ends.
func (l *literal) cost() int {
	if len(l.text) > 16 {
		return len(l.text)
	}
	return 1
}

func (s *litSet) hashed() *hashed {
	s.hashOnce.Do(func() { s.hash = newHashed(s) })
	return s.hash
}

func (s *litSet) automaton() *automaton {
	s.autoOnce.Do(func() { s.auto = newAutomaton(s) })
	return s.auto
}
