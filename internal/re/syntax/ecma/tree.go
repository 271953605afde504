package ecma

import (
	"slices"

	"quarry/internal/re/hir"
)

// Flags are the flags of a JavaScript regular expression that change its matches. The zero
// value means no flags.
type Flags uint8

const (
	IgnoreCase  Flags = 1 << iota // i
	Multiline                     // m: ^ and $ also match at line terminators
	DotAll                        // s: . matches line terminators too
	Unicode                       // u: strict syntax, \p{…}, \u{…}
	UnicodeSets                   // v: like u, with set notation in classes
)

// strict reports whether the grammar without Annex B applies.
func (f Flags) strict() bool { return f&(Unicode|UnicodeSets) != 0 }

// fold returns the character comparison for these flags.
func (f Flags) fold() Fold {
	switch {
	case f&IgnoreCase == 0:
		return FoldNone
	case f.strict():
		return FoldSimple
	}
	return FoldUpper
}

// Tree is a parsed pattern with JavaScript's full semantics, for engines that match exactly.
// Its nodes already reflect the flags. It is immutable.
type Tree struct {
	Pattern string
	Flags   Flags
	Root    *Node

	// Names has an entry for every group, where index 0 is the whole match; the entry of an unnamed
	// group is "". A name may occur more than once, in alternatives that exclude each other.
	Names []string
}

// Kind is the kind of a Node.
type Kind uint8

const (
	KindEmpty   Kind = iota // matches the empty string
	KindLiteral             // Lit: these characters, as UTF-8
	KindSet                 // Set: one character; an empty set fails
	KindAssert              // Assert: a zero-width assertion on neighbours
	KindLook                // Subs[0] ahead or, with Behind, behind; Negate inverts it
	KindBackref             // the text of the group in Groups that is set, compared by Fold
	KindGroup               // Subs[0], captured as Cap
	KindRepeat              // Subs[0], Min to Max times; Greedy
	KindConcat              // Subs in order, two or more
	KindAlt                 // Subs by preference, two or more
)

// Assertion is a zero-width assertion on the neighbouring characters.
type Assertion uint8

const (
	Start       Assertion = iota // start of text
	End                          // end of text
	StartLine                    // start of text or after a line terminator
	EndLine                      // end of text or before a line terminator
	Word                         // \b over [0-9A-Za-z_]
	NotWord                      // \B
	WordFold                     // \b with i and u or v: also U+017F and U+212A
	NotWordFold                  // \B likewise
)

// Node is one node of a Tree. Only the fields that its Kind names are set.
type Node struct {
	Kind   Kind
	Assert Assertion
	Fold   Fold // KindBackref
	Greedy bool // KindRepeat: prefer more
	Behind bool // KindLook
	Negate bool // KindLook

	// CapLo and CapHi are the groups inside a KindRepeat or KindLook, from CapLo up to but
	// excluding CapHi. Each iteration of a repetition starts with them unset.
	CapLo, CapHi int

	Min, Max int // KindRepeat; Max may be hir.Unlimited
	Cap      int // KindGroup, from 1

	body empties // KindRepeat: how Subs[0] can match the empty string

	Lit    []byte
	Set    *hir.Class
	Groups []int // KindBackref, in order; unset ones match the empty string
	Subs   []*Node
}

func newConcat(seq []*Node) *Node {
	switch len(seq) {
	case 0:
		return &Node{Kind: KindEmpty}
	case 1:
		return seq[0]
	}
	return &Node{Kind: KindConcat, Subs: seq}
}

func newAlt(alts []*Node) *Node {
	if len(alts) == 1 {
		return alts[0]
	}
	return &Node{Kind: KindAlt, Subs: alts}
}

// RefusesEmpty reports whether the tree has a repetition that backtracks after an empty
// iteration, where other languages end the repetition.
func (t *Tree) RefusesEmpty() bool { return refusesEmpty(t.Root) }

func refusesEmpty(n *Node) bool {
	return n.Kind == KindRepeat && n.refusesEmpty() || slices.ContainsFunc(n.Subs, refusesEmpty)
}

func (n *Node) refusesEmpty() bool {
	return n.body.may && !n.body.last && (n.Max == hir.Unlimited || n.Max > n.Min)
}

// BodyEmpty reports, for a KindRepeat, whether an iteration can match the empty string (may)
// and whether it can match nothing else (only).
func (n *Node) BodyEmpty() (may, only bool) { return n.body.may, n.body.only }
