package replacer

import (
	"bytes"
	"context"
	"errors"
	"regexp"
	"strings"

	"quarry/match"
)

// TakeEndings prepares a search by lines for a pattern that ends with a line feed, written as \n,
// \r?\n or the character. Each match then extends to the end of its line and includes the line's
// ending of either kind, so an empty replacement deletes the line. The last line of a file need
// not have an ending. Line feeds elsewhere in the pattern remain an error of the search.
func (q *Query) TakeEndings(ctx context.Context) {
	literal := q.Match.Syntax == match.Literal
	if q.Structure != "" || len(q.Patterns) > 0 || q.Match.Mode != match.Lines || q.Match.KeepCR || q.Match.Syntax == match.Words {
		return
	}
	rest, ok := cutEnding(q.Pattern, literal)
	if !ok {
		return
	}
	opts := q.Match
	if literal {
		rest, opts.Syntax = regexp.QuoteMeta(rest), match.Rust
	} else if hasAlternatives(rest) {
		return // the line feed belongs to the last alternative only
	}
	whole := "(?:" + rest + ")$"
	for _, p := range []string{rest, whole} { // a)(b is only valid within parentheses
		_, err := match.NewCompiler(ctx, opts).Any([]string{p})
		if bad := (*match.Error)(nil); err != nil && !(errors.As(err, &bad) && bad.ECMAScript) {
			return
		}
	}
	q.given, q.Pattern, q.Match = q.Pattern, whole, opts
}

// Given returns the pattern as the caller wrote it, before TakeEndings.
func (q *Query) Given() string {
	if q.given != "" {
		return q.given
	}
	return q.Pattern
}

// cutEnding removes a line ending from the end of a pattern.
func cutEnding(pattern string, literal bool) (rest string, ok bool) {
	if literal {
		rest, ok = strings.CutSuffix(pattern, "\n")
		return strings.TrimSuffix(rest, "\r"), ok
	}
	if rest, ok = cutCharacter(pattern, "\n", `\n`); !ok {
		return pattern, false
	}
	for _, repeat := range []string{"", "?", "*"} {
		if r, found := strings.CutSuffix(rest, repeat); found {
			if r, found = cutCharacter(r, "\r", `\r`); found {
				return r, true
			}
		}
	}
	return rest, true
}

// cutCharacter removes a character, or its escape, from the end of an expression.
func cutCharacter(expr, char, escape string) (rest string, ok bool) {
	if rest, ok = strings.CutSuffix(expr, char); ok {
		return rest, true
	}
	rest, ok = strings.CutSuffix(expr, escape)
	slashes := len(rest) - len(strings.TrimRight(rest, `\`))
	return rest, ok && slashes%2 == 0
}

// hasAlternatives reports whether an expression has a | outside of all groups and classes. It
// may return true for a | in a nested class.
func hasAlternatives(expr string) bool {
	depth, class := 0, false
	for i := 0; i < len(expr); i++ {
		switch c := expr[i]; {
		case c == '\\':
			i++
		case class:
			class = c != ']'
		case c == '[':
			class = true
			if strings.HasPrefix(expr[i+1:], "^") {
				i++
			}
			if strings.HasPrefix(expr[i+1:], "]") { // in []a] the first ] is a member
				i++
			}
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == '|' && depth == 0:
			return true
		}
	}
	return false
}

// endOf returns the offset after the line ending at offset at of text.
func endOf(text []byte, at int) int {
	switch rest := text[at:]; {
	case bytes.HasPrefix(rest, []byte("\n")):
		return at + 1
	case bytes.HasPrefix(rest, []byte("\r\n")):
		return at + 2
	}
	return at
}
