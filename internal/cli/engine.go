package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"quarry/internal/pcre"
	"quarry/match"
	"quarry/search"
)

// enginePatterns sets patterns and syntax according to -P, --engine and --no-unicode.
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
		// Use JavaScript's engine only if Rust's syntax can't express a pattern.
		if q.Match.Syntax != match.Rust || compiles(q.Patterns, q.Match) {
			break
		}
		if err := f.pcrePatterns(q); err != nil {
			return err
		}
		q.Match.Syntax = match.ECMAScript
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
	if f.rg && !f.text && !f.nulData && q.Match.Syntax != match.ECMAScript && match.Demands(q.Patterns, q.Match, 0) {
		return errors.New("the pattern has a NUL byte, and a file with one is binary\n  -a (--text) searches binary files as text")
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

func compiles(patterns []string, o match.Options) bool {
	_, err := match.CompileAny(patterns, o)
	return err == nil
}

// pcrePatterns translates PCRE2 patterns to JavaScript's syntax, or names the part that
// can't be translated.
func (f *searchFlags) pcrePatterns(q *search.Query) error {
	if f.noUnicode {
		return errors.New("-P: patterns are always Unicode: without --no-unicode, write [A-Za-z0-9_] for \\w and [0-9] for \\d")
	}
	fold := q.Match.Case == match.Insensitive
	if q.Match.Case == match.Smart {
		fold = !slices.ContainsFunc(q.Patterns, func(p string) bool { return hasUpper(p, false) })
	}
	f.pcre = true
	out := make([]string, len(q.Patterns))
	for i, p := range q.Patterns {
		made, err := pcre.Translate(p, pcre.Options{Fold: fold, DotAll: f.dotAll, ByLine: !f.multiline, CRLF: f.crlf || f.multiline && !q.Match.KeepCR})
		if err != nil {
			return fmt.Errorf("-P: %w", err)
		}
		if made.Nested && f.given["replace"] && strings.Contains(f.replace, "$") {
			return fmt.Errorf("-P: %w", pcre.Refused("group that is repeated", "with -r its text may be another one; write (?:…) in its place"))
		}
		if made.Refers && len(q.Patterns) > 1 {
			return fmt.Errorf("-P: %w", pcre.Refused("backreference", "with several patterns groups are counted together: join them with |"))
		}
		if out[i] = made.JavaScript; q.Match.WholeWord {
			out[i] = `(?<![` + pcre.Word + `])(?:` + made.JavaScript + `)(?![` + pcre.Word + `])`
		}
	}
	q.Patterns, q.Match.WholeWord, q.Match.Unicode = out, false, true
	q.Match.Case = match.Sensitive
	if fold {
		q.Match.Case = match.Insensitive
	}
	return nil
}
