package rust

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"quarry/internal/re/syntax"
)

func (p *parser) fail(from, to int, reason, hint string) error {
	from, to = min(from, len(p.pattern)), min(to, len(p.pattern))
	return &syntax.Error{Pattern: p.pattern, Offset: from, Length: max(to-from, 0), Reason: reason, Hint: hint}
}

// failECMA is fail for features that only the ECMAScript syntax supports.
func (p *parser) failECMA(from, to int, reason, hint string) error {
	from, to = min(from, len(p.pattern)), min(to, len(p.pattern))
	return &syntax.Error{Pattern: p.pattern, Offset: from, Length: max(to-from, 0), Reason: reason, Hint: hint, ECMAScript: true}
}

func (p *parser) failNest(from int) error {
	return p.fail(from, from+1, fmt.Sprintf("nesting is deeper than %d", p.flags.NestLimit),
		"Use fewer groups inside each other.")
}

func (p *parser) errInvalidUTF8() error {
	at := 0
	for at < len(p.pattern) {
		r, n := utf8.DecodeRuneInString(p.pattern[at:])
		if r == utf8.RuneError && n == 1 {
			break
		}
		at += n
	}
	return p.fail(at, at+1, "pattern isn't valid UTF-8", `Write (?-u:\xNN) to match a byte that isn't text.`)
}

// Hints returns sentences about parts of a valid pattern that probably don't have the intended
// meaning: escapes of basic grep, which Rust takes as literals, slashes around the pattern, globs.
func Hints(pattern string) []string {
	var out []string
	if strings.Contains(pattern, `\|`) {
		out = append(out, `\| matches a vertical bar; write | for alternatives.`)
	}
	if strings.Contains(pattern, `\(`) && groupsInGrepStyle(pattern) {
		out = append(out, `\( and \) match parentheses; write ( and ) to group.`)
	}
	if countInGrepStyle(pattern) {
		out = append(out, `\{ and \} match braces; write {n,m} to repeat.`)
	}
	if flags, ok := slashes(pattern); ok {
		hint := "The slashes around the pattern are matched too; leave them out."
		if flags != "" {
			hint = fmt.Sprintf("The slashes around the pattern are matched too; leave them out and write the flags as (?%s).", flags)
		}
		out = append(out, hint)
	}
	if strings.Contains(pattern, "**/") || strings.HasSuffix(pattern, "/**") {
		out = append(out, "** and / look like a glob; in a regular expression any text is .*")
	}
	return out
}

// groupsInGrepStyle reports whether \) is repeated, or \| occurs within \(…\). Both are
// uncommon if \( is meant literally, as in a call.
func groupsInGrepStyle(pattern string) bool {
	for i := 0; i+1 < len(pattern); i++ {
		if pattern[i] != '\\' {
			continue
		}
		i++
		if pattern[i] != ')' {
			continue
		}
		rest := pattern[i+1:]
		for _, op := range []string{"*", "+", "?", `\+`, `\?`, `\{`} {
			if strings.HasPrefix(rest, op) {
				return true
			}
		}
	}
	open, bar := strings.Index(pattern, `\(`), strings.Index(pattern, `\|`)
	return open >= 0 && bar > open && strings.Contains(pattern[bar:], `\)`)
}

// countInGrepStyle reports whether the pattern has a \{…\} of only digits and commas.
func countInGrepStyle(pattern string) bool {
	for {
		_, rest, ok := strings.Cut(pattern, `\{`)
		if !ok {
			return false
		}
		pattern = rest
		inside, _, closed := strings.Cut(rest, `\}`)
		if closed && inside != "" && strings.Trim(inside, "0123456789,") == "" && inside != "," {
			return true
		}
	}
}

// slashes reports whether the pattern is /…/ with flags, as in JavaScript and sed.
func slashes(pattern string) (flags string, ok bool) {
	if len(pattern) < 3 || pattern[0] != '/' {
		return "", false
	}
	end := strings.LastIndexByte(pattern, '/')
	flags = pattern[end+1:]
	if end < 2 || strings.Trim(flags, "gimsuy") != "" || strings.Contains(pattern[1:end], "/") {
		return "", false
	}
	if flags == "" {
		return "", strings.ContainsAny(pattern[1:end], `\.*+?^$()[]{}|`)
	}
	return strings.Trim(flags, "gy"), true
}
