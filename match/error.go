package match

import (
	"errors"
	"fmt"
	"strings"

	"quarry/fault"
	"quarry/internal/re/syntax"
)

// Error is a pattern that can't be compiled: where, why, and what to do next.
type Error struct {
	Pattern string
	Offset  int    // in bytes, where the trouble starts
	Length  int    // in bytes; 0 when it is a point
	Reason  string // lower case, no full stop
	Hint    string // a sentence, or ""
	// ECMAScript says that the ECMAScript syntax has what the pattern needs,
	// Multiline that the multiline mode does.
	ECMAScript, Multiline bool
	// Glob says that the pattern looks like a glob, which is what Hint is about.
	Glob bool
}

func (e *Error) Error() string {
	if e.Pattern == "" {
		return e.Reason
	}
	return fmt.Sprintf("%s at offset %d of %q", e.Reason, e.Offset, fault.Clip(e.Pattern, 200))
}

// Unwrap gives the code.
func (e *Error) Unwrap() error { return fault.InvalidPattern }

// wrapError turns a parser's error into ours and adds the hints that need to
// look at the pattern as a whole.
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

// looksLikeGlob reports a pattern such as *.go or **/*.ts, which people hand
// to the wrong parameter.
func looksLikeGlob(expr string) bool {
	return strings.HasPrefix(expr, "*") || strings.HasPrefix(expr, "?") ||
		strings.Contains(expr, "/**") || strings.Contains(expr, "**/")
}
