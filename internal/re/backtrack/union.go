package backtrack

import "quarry/internal/re/nfa"

// unions lists, for each state with many ways and each class of bytes, the ways that remain
// possible with that next byte, in order of preference. A lexer is an alternation of a hundred
// ways, of which the next byte leaves two or three.
type unions struct {
	classes *[256]byte
	n       int     // number of classes, plus one for the end of the text
	first   []int32 // by state: start of its lists; -1 if it has none
	lists   [][]nfa.ID
}

const (
	minWays = 4
	// maxWays limits the memory of all lists to a little over 256 KB.
	maxWays = 64 << 10
)

func newUnions(p *nfa.Prog) *unions {
	u := &unions{classes: &p.Classes, n: p.NumClasses + 1}
	seen := make([]int32, len(p.States))
	mark, ways := int32(0), 0
	for id := range p.States {
		s := &p.States[id]
		if s.Op != nfa.OpUnion || s.B-s.A < minWays {
			continue
		}
		lists := make([][]nfa.ID, u.n)
		for _, alt := range p.Alts[s.A:s.B] {
			mark++
			for c, in := range u.begins(p, alt, seen, mark) {
				if in {
					lists[c] = append(lists[c], alt)
					ways++
				}
			}
			if ways > maxWays {
				return u
			}
		}
		if u.first == nil {
			u.first = make([]int32, len(p.States))
			for i := range u.first {
				u.first[i] = -1
			}
		}
		u.first[id] = int32(len(u.lists))
		u.lists = append(u.lists, lists...)
	}
	return u
}

// begins reports for each class whether a way may continue with it; the last class is the end
// of the text. A way that may match immediately continues with any class.
func (u *unions) begins(p *nfa.Prog, id nfa.ID, seen []int32, mark int32) []bool {
	set := make([]bool, u.n)
	read := func(lo, hi byte) {
		for c := p.Classes[lo]; ; c++ {
			if set[c] = true; c == p.Classes[hi] {
				return
			}
		}
	}
	for stack := []nfa.ID{id}; len(stack) > 0; {
		id := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[id] == mark {
			continue
		}
		seen[id] = mark
		switch s := &p.States[id]; s.Op {
		case nfa.OpMatch:
			for c := range set {
				set[c] = true
			}
		case nfa.OpRange:
			read(s.Lo, s.Hi)
		case nfa.OpSparse:
			for _, t := range p.Trans[s.A:s.B] {
				read(t.Lo, t.Hi)
			}
		case nfa.OpSplit:
			stack = append(stack, s.A, s.B)
		case nfa.OpUnion:
			stack = append(stack, p.Alts[s.A:s.B]...)
		case nfa.OpLook, nfa.OpCapture:
			stack = append(stack, s.A)
		}
	}
	return set
}

// ways returns the ways of a state that may continue at an offset of the text.
func (u *unions) ways(p *nfa.Prog, id nfa.ID, text []byte, at int) []nfa.ID {
	if u.first == nil || u.first[id] < 0 {
		s := &p.States[id]
		return p.Alts[s.A:s.B]
	}
	class := u.n - 1
	if at < len(text) {
		class = int(u.classes[text[at]])
	}
	return u.lists[int(u.first[id])+class]
}
