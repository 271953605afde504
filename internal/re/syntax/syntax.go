// Package syntax holds what the pattern parsers have in common: the form of
// their result and of their errors. The parsers themselves are the packages
// rust and ecma below it.
package syntax

import (
	"fmt"

	"quarry/internal/re/hir"
)

// Parsed is a pattern after parsing.
type Parsed struct {
	// Root is the pattern. When Superset is set it matches at least
	// everywhere the pattern does and an exact engine has to decide.
	Root *hir.Node

	// Names has an entry for every group, index 0 being the whole match;
	// an unnamed group's entry is "".
	Names []string

	// Superset reports that the pattern uses something outside a regular
	// language (look-around, a backreference), which Root only widens.
	Superset bool

	// CapturesDiffer reports that Root has the pattern's matches but not
	// all of its groups: ECMAScript unsets groups where the other syntaxes
	// keep them. An exact engine, run at the match, has to give them.
	CapturesDiffer bool

	// Ahead are the trees of look-ahead that every match needs: what each matches
	// follows in the text.
	Ahead []*hir.Node
}

// Error is a pattern that can't be accepted: where, why, and what to do.
type Error struct {
	Pattern string
	Offset  int    // in bytes, where the trouble starts
	Length  int    // in bytes, 0 when it is a point
	Reason  string // lower case, no full stop: "unclosed group"
	Hint    string // the next step as a sentence, "" when there is none
	// ECMAScript says that the ECMAScript syntax has what the pattern needs.
	ECMAScript bool
	// Glob says that the pattern looks like a glob, which is what the hint is about.
	Glob bool
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s (at offset %d)", e.Reason, e.Offset)
}
