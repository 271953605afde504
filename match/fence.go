package match

import (
	"quarry/internal/re/nfa"
	"quarry/internal/re/vec"
)

// fence is a set of bytes that no match contains, so every match lies between two of them. For
// most patterns it is the line feed, for \w+\s+Holmes all punctuation. When a literal is
// found, only the text between the nearest such bytes has to be searched.
type fence struct {
	bytes    [256]bool
	set      *vec.ByteSet
	lineFeed bool // it contains the line feed
}

// fenceSigns are frequent bytes. A fence without the line feed needs three of them, so that one
// is usually near.
const fenceSigns = "\n.,;:()\"'=- "

// newFence makes a fence of the bytes that no state of the program reads.
func newFence(p *nfa.Prog) *fence {
	f := &fence{}
	for b := range f.bytes {
		f.bytes[b] = true
	}
	// Begin only at Start, because the loop of an unanchored search reads every byte.
	seen := make([]bool, len(p.States))
	for todo := []nfa.ID{p.Start}; len(todo) > 0; {
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[id] {
			continue
		}
		seen[id] = true
		s := &p.States[id]
		switch s.Op {
		case nfa.OpRange:
			f.reads(s.Lo, s.Hi)
			todo = append(todo, s.A)
		case nfa.OpSparse:
			for _, t := range p.Trans[s.A:s.B] {
				f.reads(t.Lo, t.Hi)
				todo = append(todo, t.Next)
			}
		case nfa.OpSplit:
			todo = append(todo, s.A, s.B)
		case nfa.OpUnion:
			todo = append(todo, p.Alts[s.A:s.B]...)
		case nfa.OpLook, nfa.OpCapture:
			todo = append(todo, s.A)
		}
	}
	near := 0
	for _, c := range []byte(fenceSigns) {
		if f.bytes[c] {
			near++
		}
	}
	f.lineFeed = f.bytes['\n']
	if !f.lineFeed && near < 3 {
		return nil
	}
	f.set = vec.NewByteSet(&f.bytes)
	return f
}

// reads removes the bytes from low to high, which a state reads, from the fence.
func (f *fence) reads(low, high byte) {
	for b := int(low); b <= int(high); b++ {
		f.bytes[b] = false
	}
}

// around returns the text between the fences before and after a hit. It looks no further back
// than from. ok is false if one is too far away.
func (f *fence) around(text []byte, from, hit, hitEnd int) (start, end int, ok bool) {
	if f.lineFeed {
		start = from + vec.LastIndexByte(text[from:hit], '\n') + 1
		end = vec.IndexByte(text[:min(len(text), hit+longLine)], '\n', hit)
	} else {
		low := max(from, hit-longLine)
		for start = hit; start > low && !f.bytes[text[start-1]]; start-- {
		}
		if start == low && low > from {
			return from, 0, false
		}
		end = f.set.Find(text[:min(len(text), hit+longLine)], hitEnd)
	}
	if end < 0 {
		// If it looked further, the end of a long line would be searched for again with each
		// match in the line.
		return start, 0, false
	}
	return start, end, true
}

// longLine limits how far around looks.
const longLine = 4 << 10
