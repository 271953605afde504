// Package hir is the form of every pattern after parsing: a tree of literals, classes,
// repetitions and assertions, independent of the syntax.
//
// Both parsers (Rust, ECMAScript) produce it and every engine consumes it. Invariants: case
// folding and flags are already applied; a class is in canonical form; capture indices are
// dense and 0 is never explicit; a tree is immutable once built and may be shared.
package hir

// Op is the kind of a Node.
type Op uint8

const (
	OpEmpty   Op = iota // matches the empty string
	OpFail              // matches nothing (an empty class, a dead branch)
	OpLiteral           // Lit: these bytes, exactly
	OpClass             // Class: one scalar value as UTF-8, or one byte
	OpLook              // Look: a zero-width assertion
	OpRepeat            // Subs[0], Min to Max times
	OpCapture           // Subs[0], captured as group Cap
	OpConcat            // Subs in order, two or more
	OpAlt               // Subs by preference, earlier first; two or more
)

// Unlimited is the Max of a repetition without an upper limit.
const Unlimited = -1

// Node is one node of the tree. Only the fields that its Op names are set.
type Node struct {
	Op     Op
	Lit    []byte // OpLiteral, never empty
	Class  *Class // OpClass, never empty
	Look   Look   // OpLook
	Min    int    // OpRepeat
	Max    int    // OpRepeat; may be Unlimited
	Greedy bool   // OpRepeat: prefer more
	Cap    int    // OpCapture, from 1
	Name   string // OpCapture, "" when unnamed
	Subs   []*Node
}

// Class is a set of scalar values (encoded as UTF-8 in the text) or, with Bytes set, of
// single bytes. Ranges are sorted, disjoint and not adjacent. A scalar-value class never
// contains surrogates.
type Class struct {
	Bytes  bool
	Ranges []Range
}

// Range is inclusive at both ends.
type Range struct{ Lo, Hi rune }

// Look is a zero-width assertion.
type Look uint8

const (
	LookNone               Look = iota
	LookStart                   // start of text
	LookEnd                     // end of text
	LookStartLine               // start of text or after \n
	LookEndLine                 // end of text or before \n
	LookStartCRLF               // start of text, after \n, or after \r not followed by \n
	LookEndCRLF                 // end of text, before \r, or before \n not preceded by \r
	LookStartLineJS             // start of text or after \n, \r, U+2028, U+2029
	LookEndLineJS               // end of text or before one of them
	LookWordASCII               // \b over [0-9A-Za-z_]
	LookNotWordASCII            // \B
	LookWordUnicode             // \b over Unicode \w
	LookNotWordUnicode          // \B; never inside an encoded scalar value
	LookWordStartASCII          // \b{start}
	LookWordEndASCII            // \b{end}
	LookWordStartUnicode        //
	LookWordEndUnicode          //
	LookWordStartHalfASCII      // \b{start-half}: no word character before
	LookWordEndHalfASCII        // \b{end-half}: no word character after
	LookWordStartHalfUnicode
	LookWordEndHalfUnicode
	numLook
)

// NumLook is one more than the largest Look, for tables and bit sets.
const NumLook = int(numLook)
