// Package nfa compiles a pattern tree into a byte-at-a-time Thompson automaton and decides
// whether a zero-width assertion holds.
//
// A Prog accepts exactly what its tree accepts, in order of preference: at a state with
// several ways to continue, the earlier one wins. Scalar-value classes are expanded to UTF-8,
// so they never match a byte that isn't part of a valid encoding. A Prog is immutable and
// shared by all engines; the state of a search is in each engine's Cache.
package nfa

import (
	"errors"
	"fmt"
	"math/bits"

	"quarry/internal/re/hir"
)

// ID is the index of a state in Prog.States.
type ID uint32

// Op is the kind of a state.
type Op uint8

const (
	OpFail    Op = iota // no way to continue
	OpMatch             // the pattern has matched
	OpRange             // one byte in Lo..Hi, then A
	OpSparse            // one byte by Trans[A:B], sorted and disjoint
	OpSplit             // A or, less preferred, B
	OpUnion             // Alts[A:B] in order of preference
	OpLook              // if Look holds, A
	OpCapture           // store the position in slot B, then A
)

// State is 12 bytes; see Op for the meaning of A and B.
type State struct {
	Op     Op
	Look   hir.Look
	Lo, Hi byte
	A, B   ID
}

// Trans is one edge of an OpSparse state.
type Trans struct {
	Lo, Hi byte
	Next   ID
}

// Prog is a compiled automaton.
type Prog struct {
	States []State
	Trans  []Trans
	Alts   []ID

	// Start is the state for a match at the current position. Search is the start of a lazy
	// loop over any byte, so a match may start later.
	Start, Search ID

	// Slots is twice the number of groups, including the whole match: group i starts at
	// slot 2i and ends at slot 2i+1. Slots 0 and 1 are not in the automaton; the engines set
	// them.
	Slots int

	// Looks has bit 1<<look set for each assertion in use.
	Looks LookSet

	// Reverse reports that the automaton reads the text backwards.
	Reverse bool

	// UTF8 tells the engines to skip empty matches that would split a valid encoded
	// scalar value.
	UTF8 bool

	// AnchoredStart reports whether every match begins at the start of the text, LineAnchored
	// whether every match begins there or after \n. AnchoredEnd reports whether every match
	// ends at the end of the text.
	AnchoredStart, LineAnchored, AnchoredEnd bool

	// First has the possible first bytes of a non-empty match. Nullable reports whether the
	// empty string can match, if assertions allow it.
	First    [256]bool
	Nullable bool

	// Classes maps a byte to its equivalence class: no edge and no assertion distinguishes the
	// bytes of a class. NumClasses is the number of classes.
	Classes    [256]byte
	NumClasses int

	// Size is the memory in bytes that counts towards Options.SizeLimit.
	Size int
}

// LookSet is a set of assertions, one bit each.
type LookSet uint32

// Has reports whether l is in the set.
func (s LookSet) Has(l hir.Look) bool { return s&(1<<l) != 0 }

// HasAny reports whether the sets have an element in common.
func (s LookSet) HasAny(t LookSet) bool { return s&t != 0 }

// DefaultSizeLimit is the memory limit of a pattern if Options doesn't set one.
const DefaultSizeLimit = 64 << 20

// ErrTooLarge is wrapped by Compile's error if a pattern needs more memory than allowed.
var ErrTooLarge = errors.New("pattern too large")

// Options are the options of Compile; the zero value is ready to use.
type Options struct {
	// SizeLimit limits the bytes of the automaton and the scratch of one search together.
	// 0 means DefaultSizeLimit.
	SizeLimit int

	// Stop, if set, is called once per 256 KB built. If it returns an error, Compile returns
	// that error.
	Stop func() error

	// NoCaptures omits the group states. Slots is then 2.
	NoCaptures bool

	// Reverse builds the automaton that reads the text backwards, which finds the start of a
	// match from its end. It implies NoCaptures, and has no preference.
	Reverse bool

	// UTF8 sets Prog.UTF8.
	UTF8 bool

	// Relax makes the assertions in this set hold everywhere. The result matches wherever the
	// pattern does, and maybe elsewhere.
	Relax LookSet
}

// Compile builds the automaton of a tree.
//
// Its time and memory are bounded by the size limit, whatever the tree: it stops as soon as
// the limit is exceeded.
func Compile(n *hir.Node, opt Options) (*Prog, error) {
	if opt.SizeLimit <= 0 {
		opt.SizeLimit = DefaultSizeLimit
	}
	c := newCompiler(n, opt)
	start := c.compile(n, c.match)
	if c.err != nil && c.err != errStop {
		return nil, c.err
	}
	if c.err != nil {
		return nil, fmt.Errorf("%w: it needs more than %d MB once its repetitions are written out", ErrTooLarge, opt.SizeLimit>>20)
	}
	c.p.Start = start
	// Search is a loop over any byte that prefers to start a match.
	loop := c.reserve()
	anyByte := c.add(State{Op: OpRange, Lo: 0, Hi: 255, A: loop})
	c.p.States[loop] = State{Op: OpSplit, A: start, B: anyByte}
	c.p.Search = loop
	c.finish(n)
	c.p.Size = c.used
	return c.p, nil
}

// firstBytes fills in First and Nullable.
func (p *Prog) firstBytes() {
	seen := make(map[ID]bool)
	stack := []ID{p.Start}
	for len(stack) > 0 {
		id := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[id] {
			continue
		}
		seen[id] = true
		s := &p.States[id]
		switch s.Op {
		case OpMatch:
			p.Nullable = true
		case OpRange:
			p.mayStart(s.Lo, s.Hi)
		case OpSparse:
			for _, t := range p.Trans[s.A:s.B] {
				p.mayStart(t.Lo, t.Hi)
			}
		case OpSplit:
			stack = append(stack, s.A, s.B)
		case OpUnion:
			stack = append(stack, p.Alts[s.A:s.B]...)
		case OpLook, OpCapture:
			stack = append(stack, s.A)
		}
	}
}

func (p *Prog) mayStart(lo, hi byte) {
	for b := int(lo); b <= int(hi); b++ {
		p.First[b] = true
	}
}

// Next returns the state that follows the OpSparse state s on byte b.
func (p *Prog) Next(s *State, b byte) (ID, bool) {
	for _, t := range p.Trans[s.A:s.B] {
		if b < t.Lo {
			return 0, false
		}
		if b <= t.Hi {
			return t.Next, true
		}
	}
	return 0, false
}

// byteSet marks where equivalence classes end: bit b set means that b and b+1 differ.
type byteSet [4]uint64

func (s *byteSet) cut(lo, hi byte) {
	if lo > 0 {
		s[(lo-1)>>6] |= 1 << ((lo - 1) & 63)
	}
	s[hi>>6] |= 1 << (hi & 63)
}

func (s *byteSet) classes(p *Prog) {
	s[3] &^= 1 << 63 // 255 has no successor
	class := 0
	for b := range 256 {
		p.Classes[b] = byte(class)
		if s[b>>6]&(1<<(b&63)) != 0 {
			class++
		}
	}
	p.NumClasses = class + 1
	if n := bits.OnesCount64(s[0]) + bits.OnesCount64(s[1]) + bits.OnesCount64(s[2]) + bits.OnesCount64(s[3]); n != class {
		panic("nfa: class count") // can't happen: both count the same bits
	}
}
