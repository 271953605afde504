package match

import (
	"errors"
	"fmt"
	"strings"

	"quarry/fault"
	"quarry/internal/re/syntax"
)

// Error reports an invalid pattern: where, why, and what to do next.
type Error struct {
	Pattern string
	Offset  int    // in bytes, the start of the problem
	Length  int    // in bytes; 0 for a position
	Reason  string // lower case, no full stop
	Hint    string // a sentence, or ""
	// ECMAScript reports whether the ECMAScript syntax supports the feature that the pattern
	// uses, Multiline whether the multiline mode does.
	ECMAScript, Multiline bool
	// Glob reports whether the pattern looks like a glob; if so, Hint is about that.
	Glob bool
}

func (e *Error) Error() string {
	if e.Pattern == "" {
		return e.Reason
	}
	return fmt.Sprintf("%s at offset %d of %q", e.Reason, e.Offset, fault.Clip(e.Pattern, 200))
}

// Unwrap returns the error code.
func (e *Error) Unwrap() error { return fault.InvalidPattern }

// wrapError converts a parser's error and adds the hints that depend on the whole pattern.
func wrapError(expr string, err error) error {
	var se *syntax.Error
	if !errors.As(err, &se) {
		return &Error{Pattern: expr, Reason: err.Error()}
	}
	e := &Error{Pattern: expr, Offset: se.Offset, Length: se.Length, Reason: se.Reason, Hint: se.Hint, ECMAScript: se.ECMAScript, Glob: se.Glob}
	if e.Hint == "" && looksLikeGlob(expr) {
		e.Glob = true
		e.Hint = "This looks like a glob for file names. To search text in such files give the glob as the file filter and a regular expression here."
	}
	return e
}

// looksLikeGlob reports whether expr looks like a glob, such as *.go or **/*.ts, passed in the
// wrong parameter.
func looksLikeGlob(expr string) bool {
	return strings.HasPrefix(expr, "*") || strings.HasPrefix(expr, "?") ||
		strings.Contains(expr, "/**") || strings.Contains(expr, "**/")
}
