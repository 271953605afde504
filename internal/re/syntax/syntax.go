// Package syntax has the common parts of the pattern parsers: the form of their results and
// errors. The parsers are in its subpackages rust and ecma.
package syntax

import (
	"fmt"

	"quarry/internal/re/hir"
)

// Parsed is a pattern after parsing.
type Parsed struct {
	// Root is the pattern. With Superset set, it matches wherever the pattern matches and
	// maybe elsewhere, and an exact engine must decide.
	Root *hir.Node

	// Names has an entry for every group, where index 0 is the whole match; the entry of an
	// unnamed group is "".
	Names []string

	// Superset reports that the pattern isn't regular (it has look-around or a backreference),
	// and that Root may match more.
	Superset bool

	// CapturesDiffer reports that Root has the pattern's matches but not all of its
	// groups: ECMAScript unsets groups where the other syntaxes keep them. An exact engine, run
	// at the match, must find them.
	CapturesDiffer bool

	// Ahead has the contents of the look-aheads that every match requires. Each of them must
	// also match somewhere in the text.
	Ahead []*hir.Node
}

// Error reports an invalid pattern: where, why, and what to do.
type Error struct {
	Pattern string
	Offset  int    // in bytes, the start of the problem
	Length  int    // in bytes, 0 for a position
	Reason  string // lower case, no full stop: "unclosed group"
	Hint    string // the next step as a sentence, "" if there is none
	// ECMAScript reports whether the ECMAScript syntax supports the feature that the pattern uses.
	ECMAScript bool
	// Glob reports whether the pattern looks like a glob; if so, Hint says how to write it.
	Glob bool
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s (at offset %d)", e.Reason, e.Offset)
}
