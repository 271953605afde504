package explain

import (
	"context"
	"strings"

	"quarry/fault"
	"quarry/match"
	"quarry/search"
)

// The text may occur in another form: as a regular expression or literal text, with other
// white space, in another style of identifiers, or with one wrong letter. The first form
// that occurs is reported.

// forms tries other forms of the query's pattern.
func (l *Look) forms(ctx context.Context, q search.Query) {
	plain, isPlain := literalOf(&q)
	type form struct {
		way  Way
		text string
		make func(*search.Query) bool
	}
	literal := func(text string) func(*search.Query) bool {
		return func(q *search.Query) bool {
			q.Pattern, q.Match.Syntax, q.Match.Case = text, match.Literal, match.Insensitive
			return text != "" && text != plain
		}
	}
	var list []form
	if q.Match.Syntax != match.Literal && strings.ContainsAny(q.Pattern, `\.+*?()|[]{}^$`) {
		list = append(list, form{PlainText, q.Pattern, func(q *search.Query) bool {
			q.Match.Syntax = match.Literal
			return true
		}})
	}
	if q.Match.Syntax == match.Literal && regexLike().MatchString(q.Pattern) {
		list = append(list, form{Regex, q.Pattern, func(q *search.Query) bool {
			q.Match.Syntax = match.Rust
			return true
		}})
	}
	if best := LongestLine(q.Pattern); best != "" {
		list = append(list, form{OneLine, fault.Clip(best, 80), literal(best)})
	}
	if isPlain {
		list = append(list,
			form{OtherSpace, spaced(plain), func(q *search.Query) bool {
				q.Pattern, q.Match.Syntax, q.Match.Case = spaced(plain), match.Rust, match.Insensitive
				return len(strings.Fields(plain)) > 1
			}},
		)
		for _, bare := range bareForms(plain) {
			list = append(list, form{Alone, bare, literal(bare)})
		}
	}
	for _, f := range list {
		other := q
		if !f.make(&other) {
			continue
		}
		if l.add(l.ask(ctx, other).finding(f.way, f.text)) {
			return
		}
	}
	if isPlain {
		for _, word := range append([]string{plain}, bareForms(plain)...) {
			if l.Near(ctx, q, word) {
				return
			}
		}
		l.named(ctx, plain)
	}
}

// regexLike matches patterns that only make sense as a regular expression.
var regexLike = lazily(`\\[bBdDwWsS.()\[\]{}*+?|^$]|\.[*+]|\[[^\]]+\]|\w\|\w|\([^)]*\|[^)]*\)|\)[?*+]|^\^|\$$`)

// Found returns the findings so far.
func (l *Look) Found() []Finding { return l.found }

// Near searches for texts similar to text: first for the same words in another style of
// identifiers, then with one character wrong, missing, added or swapped.
func (l *Look) Near(ctx context.Context, q search.Query, text string) bool {
	asked := q.Match
	for i, pattern := range append([]string{styles(text)}, oneEdit(text)...) {
		if q.Pattern = pattern; pattern == "" {
			continue
		}
		q.Match.Syntax, q.Match.Case = match.Rust, match.Insensitive
		way := Near
		if i == 0 {
			way = Style
		}
		s := l.askText(ctx, q)
		if s.text == "" {
			continue
		}
		q.Match.Syntax, q.Match.Case, q.Pattern = match.Literal, asked.Case, s.text // other texts were similar, too
		if l.add(l.ask(ctx, q).finding(way, s.text)) {
			return true
		}
	}
	return false
}

// named searches for files whose name is the text.
func (l *Look) named(ctx context.Context, text string) {
	if fileName().MatchString(text) {
		if paths, total := sameName(ctx, l.Files, baseName(text)); total > 0 {
			l.found = append(l.found, Finding{Way: Name, Text: baseName(text), Paths: paths[:min(len(paths), MaxNames)], Total: total})
		}
	}
}

var fileName = lazily(`^[\w./-]*\w\.\w{1,8}$`)
