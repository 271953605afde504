package ecma

import (
	"strings"

	"quarry/internal/re/syntax"
)

// ParseLiteralForm parses a pattern written as in JavaScript source, /…/ and
// flags after it. The flags g and d change no single match and are ignored;
// y isn't supported. Offsets of errors count from the first slash.
func ParseLiteralForm(src string) (*Tree, error) {
	fail := func(off int, reason, hint string) (*Tree, error) {
		return nil, &syntax.Error{Pattern: src, Offset: off, Reason: reason, Hint: hint}
	}
	if !strings.HasPrefix(src, "/") {
		return fail(0, "Invalid regular expression: missing /", "Write /pattern/flags.")
	}
	end := literalEnd(src)
	if end < 0 {
		return fail(len(src), "Invalid regular expression: missing /", "Close the pattern with a slash; flags follow it.")
	}
	if end == 1 {
		return fail(1, "Invalid regular expression: empty", "Write /(?:)/ for the empty pattern.")
	}
	var flags Flags
	seen := map[rune]bool{}
	for i, c := range src[end+1:] {
		if seen[c] || !strings.ContainsRune("dgimsuv", c) || c == 'u' && seen['v'] || c == 'v' && seen['u'] {
			return fail(end+1+i, "Invalid regular expression flags", "The flags are i, m, s and one of u and v, each once; g and d are ignored.")
		}
		seen[c] = true
		flags |= map[rune]Flags{'i': IgnoreCase, 'm': Multiline, 's': DotAll, 'u': Unicode, 'v': UnicodeSets}[c]
	}
	t, err := ParseTree(src[1:end], flags)
	if e, ok := err.(*syntax.Error); ok {
		moved := *e
		moved.Pattern, moved.Offset = src, e.Offset+1
		return nil, &moved
	}
	return t, err
}

// literalEnd is the slash that closes the pattern: not escaped, not in a
// class; -1 when there is none on the line.
func literalEnd(src string) int {
	class := false
	for i := 1; i < len(src); i++ {
		switch c := src[i]; {
		case c == '\\':
			i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			if strings.ContainsAny(src[:i], "\n\r\u2028\u2029") {
				return -1
			}
			return i
		}
	}
	return -1
}
