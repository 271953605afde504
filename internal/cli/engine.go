package cli

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"quarry/match"
	"quarry/search"
)

// enginePatterns makes patterns and syntax what -P, --engine and --no-unicode ask for.
func (f *searchFlags) enginePatterns(q *search.Query) error {
	engine := f.engine
	switch {
	case f.pcre:
		engine = "pcre2"
	case f.autoEngine:
		engine = "auto"
	}
	switch engine {
	case "default":
	case "auto":
		// The other engine is used only for what Rust's syntax can't express.
		if _, err := match.CompileAny(q.Patterns, q.Match); err == nil || q.Match.Syntax != match.Rust || f.pcrePatterns(q) != nil {
			break
		}
		o := q.Match
		if o.Syntax = match.ECMAScript; compiles(q.Patterns, o) {
			q.Match = o
		}
	case "pcre2":
		if q.Match.Syntax == match.Literal {
			break
		}
		if err := f.pcrePatterns(q); err != nil {
			return err
		}
		q.Match.Syntax = match.ECMAScript
	default:
		return fmt.Errorf("--engine %q: default, auto or pcre2", f.engine)
	}
	if f.noUnicode && q.Match.Syntax == match.Rust {
		for i, p := range q.Patterns {
			q.Patterns[i] = "(?-u:" + p + ")"
		}
	}
	if f.rg && !f.text && !f.nulData && q.Match.Syntax == match.Rust {
		for _, p := range q.Patterns {
			if nulInPattern().MatchString(p) {
				return errors.New("pattern contains \"\\0\" but it is impossible to match\n\nConsider enabling text mode with the --text flag (or -a for short). Otherwise,\n" +
					"binary detection is enabled and matching a NUL byte is impossible.")
			}
		}
	}
	if f.nulData {
		for _, p := range q.Patterns {
			if strings.Contains(p, "\n") || strings.Contains(p, `\n`) || strings.Contains(p, `\0`) || strings.Contains(p, `\x00`) {
				return errors.New("with --null-data a pattern can't have line feeds or NUL")
			}
		}
	}
	return nil
}

// nulInPattern is a NUL, or an escape of one, that no backslash precedes.
var nulInPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\x00|(?:^|[^\\])(?:\\\\)*\\(?:x00|x\{0+\}|u0000|U00000000)`)
})

func compiles(patterns []string, o match.Options) bool {
	_, err := match.CompileAny(patterns, o)
	return err == nil
}

// pcreOnly are parts of PCRE2's syntax that JavaScript's lacks or reads
// differently, each with what to write instead.
var pcreOnly = []struct{ pattern, instead string }{
	{`\\K`, `write what comes before as look-behind: (?<=…)`},
	{`\\[AG]`, `lines are matched one by one: ^ is their start`},
	{`\\[zZ]`, `lines are matched one by one: $ is their end`},
	{`\\[hHRXVN]`, `write the characters as a class: [ \t]`},
	{`\\Q`, `escape each character, or use -F`},
	{`\(\?>`, `JavaScript has no atomic groups: leave the ?> out`},
	{`[*+?}]\+`, `JavaScript has no possessive quantifiers: leave the + out`},
	{`\(\?(R|\d+|&|\()`, `JavaScript has no recursion and no conditions`},
	{`\(\?[a-zA-Z^-]*x[a-zA-Z-]*[:)]`, `JavaScript has no free spacing: write the pattern without it`},
	{`\(\?[a-zA-Z^-]+\)`, `give -i or -U in place of a flag for the whole pattern, or (?i:…) for a part`},
	{`\[\[:\^?[a-z]+:\]`, `write the class out, as [a-z] or \p{L}`},
	{`\(\*[A-Z]`, `JavaScript has no verbs`},
}

var pcreTests = sync.OnceValue(func() []*regexp.Regexp {
	var list []*regexp.Regexp
	for _, p := range pcreOnly {
		list = append(list, regexp.MustCompile(`^(?:[^\\]|\\.)*?(`+p.pattern+`)`))
	}
	return list
})

// pcrePatterns reports parts of a pattern that JavaScript's syntax lacks, and
// rewrites those that are only written differently.
func (f *searchFlags) pcrePatterns(q *search.Query) error {
	for i, p := range q.Patterns {
		for k, re := range pcreTests() {
			if m := re.FindStringSubmatch(p); m != nil {
				return fmt.Errorf("-P is JavaScript's syntax here, and PCRE2's %s is not in it\n  %s", m[1], pcreOnly[k].instead)
			}
		}
		q.Patterns[i] = strings.NewReplacer("(?P<", "(?<", "(?'", "(?<").Replace(p)
		q.Patterns[i] = regexp.MustCompile(`\(\?P=(\w+)\)`).ReplaceAllString(q.Patterns[i], `\k<$1>`)
	}
	return nil
}
