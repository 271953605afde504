package profile

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"quarry/internal/render"
	"quarry/match"
	"quarry/search"
)

// The text may occur in another form: as a regular expression or as plain text,
// with other white space, in another style of identifiers, or with one letter
// wrong. The first form that occurs is named.

// forms looks for other ways to write the pattern of a query.
func (l *looking) forms(ctx context.Context, q search.Query) {
	plain, isPlain := literalOf(&q)
	type form struct {
		what string
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
		list = append(list, form{"as plain text (" + l.c.other("file_search", "query", q.Pattern) + ")", func(q *search.Query) bool {
			q.Match.Syntax = match.Literal
			return true
		}})
	}
	if q.Match.Syntax == match.Literal && regexLike().MatchString(q.Pattern) {
		list = append(list, form{"as a regular expression (" + l.c.other("search_files", "regex", q.Pattern) + ")", func(q *search.Query) bool {
			q.Match.Syntax = match.Rust
			return true
		}})
	}
	if best := longestLine(q.Pattern); best != "" {
		list = append(list, form{"lines are searched one by one: with " + quoted(clip(best, 80)) + " alone", literal(best)})
	}
	if isPlain {
		list = append(list,
			form{"with other white space (regex " + quoted(spaced(plain)) + ")", func(q *search.Query) bool {
				q.Pattern, q.Match.Syntax, q.Match.Case = spaced(plain), match.Rust, match.Insensitive
				return len(strings.Fields(plain)) > 1
			}},
		)
		for _, bare := range bareForms(plain) {
			list = append(list, form{"with " + quoted(bare) + " alone", literal(bare)})
		}
	}
	for _, f := range list {
		other := q
		if !f.make(&other) {
			continue
		}
		if s := l.ask(ctx, other); len(s.files) > 0 {
			l.say(f.what, s)
			return
		}
	}
	if isPlain {
		for _, word := range append([]string{plain}, bareForms(plain)...) {
			if l.near(ctx, q, word) {
				return
			}
		}
		l.named(ctx, plain)
	}
}

// other is a call of another tool, where there is one.
func (c *call) other(name, param, value string) string {
	if !c.has(name) {
		return param
	}
	if text, err := marshal(map[string]string{param: value}, ""); err == nil && len(value) <= 80 {
		return name + " " + string(text)
	}
	return name
}

// regexLike reports text that only makes sense as a regular expression.
var regexLike = lazily(`\\[bBdDwWsS.()\[\]{}*+?|^$]|\.[*+]|\[[^\]]+\]|\w\|\w|\([^)]*\|[^)]*\)|\)[?*+]|^\^|\$$`)

// near looks for a text that is nearly the one given: the same words in another
// style of identifiers, then one character wrong, missing, added or swapped.
func (l *looking) near(ctx context.Context, q search.Query, text string) bool {
	q.Match.Syntax, q.Match.Case = match.Rust, match.Insensitive
	for i, pattern := range append([]string{styles(text)}, oneEdit(text)...) {
		if q.Pattern = pattern; pattern == "" {
			continue
		}
		what := "near spelling: "
		if i == 0 {
			what = "written "
		}
		if s := l.askText(ctx, q); len(s.files) > 0 && s.text != "" {
			l.say(what+quoted(s.text), s)
			return true
		}
	}
	return false
}

// named looks for a file that is called like the text.
func (l *looking) named(ctx context.Context, text string) {
	if fileName().MatchString(text) {
		if s := l.c.sameName(ctx, baseName(text)); s != "" {
			l.found = append(l.found, "by name: "+strings.TrimSuffix(s, "."))
		}
	}
}

var fileName = lazily(`^[\w./-]*\w\.\w{1,8}$`)

// literalOf is the text that a query stands for, if it is one text.
func literalOf(q *search.Query) (string, bool) {
	if q.Match.Syntax == match.Literal {
		return q.Pattern, true
	}
	var b strings.Builder
	for i := 0; i < len(q.Pattern); i++ {
		switch ch := q.Pattern[i]; {
		case ch == '\\' && i+1 < len(q.Pattern) && !isWordByte(q.Pattern[i+1]):
			i++
			b.WriteByte(q.Pattern[i])
		case strings.IndexByte(`\+*?()|[]{}^$`, ch) >= 0:
			return "", false
		default:
			b.WriteByte(ch)
		}
	}
	return b.String(), true
}

func isWordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// unescapeBreaks makes line breaks of \n in a pattern.
func unescapeBreaks(pattern string) string {
	return strings.NewReplacer(`\r\n`, "\n", `\n`, "\n").Replace(pattern)
}

// longestLine is the longest of several lines of a pattern, "" if it has one.
func longestLine(pattern string) string {
	best := ""
	lines := strings.FieldsFunc(unescapeBreaks(pattern), func(r rune) bool { return r == '\n' || r == '\r' })
	for _, line := range lines {
		if line = strings.TrimSpace(line); len(line) > len(best) && len(lines) > 1 {
			best = line
		}
	}
	return best
}

// spaced is a pattern for the words of a text with any white space between them.
func spaced(text string) string {
	words := strings.Fields(text)
	for i, w := range words {
		words[i] = regexp.QuoteMeta(w)
	}
	return strings.Join(words, `\s+`)
}

var callForm = lazily(`^([\w$.:>-]*\w)\s*\(.*$`)

// bareForms is a text without what is often copied along with it: the
// parentheses of a call, the object before a method, quotes, an ending.
func bareForms(text string) []string {
	var out []string
	add := func(s string) {
		if s = strings.TrimSpace(s); utf8.RuneCountInString(s) > 2 && s != text {
			out = append(out, s)
		}
	}
	bare := strings.Trim(strings.TrimSpace(text), "`\"'“”‘’")
	bare = strings.TrimRight(bare, ";,:.")
	add(bare)
	if m := callForm().FindStringSubmatch(bare); m != nil {
		bare = m[1]
		add(bare)
	}
	if i := strings.LastIndexAny(bare, ".:>"); i >= 0 && !strings.ContainsAny(bare, " \t") && !fileName().MatchString(bare) {
		add(bare[i+1:])
	}
	return out
}

// identifier is one name, or a few words that may stand for one.
var identifier = lazily(`^[\pL_][\pL\pN_-]*( [\pL\pN_-]+){0,3}$`)

// styles is a pattern for an identifier in any style: max_bytes, maxBytes,
// max-bytes, "max bytes". It is "" for a single word.
func styles(text string) string {
	words := parts(text)
	if len(words) < 2 || len(words) > 8 || !identifier().MatchString(text) {
		return ""
	}
	for i, w := range words {
		words[i] = regexp.QuoteMeta(w)
	}
	return strings.Join(words, `[_\- ]?`)
}

// The lengths of texts that are searched with one character wrong: a shorter
// text has too many neighbours, a longer one is not a name.
const minNear, maxNear = 5, 40

// oneEdit are patterns for the texts that differ by one character from this one:
// one replaced, removed, added, or two swapped. Each pattern keeps one half of the
// text unchanged, so that an index can find files by it. With one pattern for all
// texts every file had to be read.
func oneEdit(text string) []string {
	runes := []rune(text)
	if len(runes) < minNear || len(runes) > maxNear || !strings.ContainsFunc(text, unicode.IsLetter) {
		return nil
	}
	mid := len(runes) / 2
	first, second := runes[:mid], runes[mid:]
	across := slices.Clone(runes)
	across[mid-1], across[mid] = across[mid], across[mid-1]
	return []string{
		quoteRunes(first) + "(?:" + strings.Join(edits(second, true), "|") + ")|" + quoteRunes(across),
		"(?:" + strings.Join(edits(first, false), "|") + ")" + quoteRunes(second),
	}
}

func quoteRunes(r []rune) string { return regexp.QuoteMeta(string(r)) }

// edits are patterns for a text with one character wrong. If the last character
// is removed or replaced, the word must end there, or every longer word would
// match.
func edits(text []rune, end bool) []string {
	var list []string
	for i := range text {
		before, after := quoteRunes(text[:i]), quoteRunes(text[i+1:])
		switch {
		case i+1 == len(text) && end:
			list = append(list, before+`\b`, before+`[^\s]\b`)
		default:
			list = append(list, before+`[^\s]?`+after) // another, or one less
		}
		if i+1 < len(text) && text[i] != text[i+1] {
			list = append(list, before+quoteRunes([]rune{text[i+1], text[i]})+quoteRunes(text[i+2:]))
		}
		list = append(list, before+`[^\s]`+quoteRunes(text[i:]))
	}
	return list
}

// wholeWord is a match extended to whole words at both ends.
func wholeWord(line string, s search.Span) string {
	start, end := min(s.Start, len(line)), min(s.End, len(line))
	word := func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	for start > 0 {
		r, n := utf8.DecodeLastRuneInString(line[:start])
		if !word(r) {
			break
		}
		start -= n
	}
	for end < len(line) {
		r, n := utf8.DecodeRuneInString(line[end:])
		if !word(r) {
			break
		}
		end += n
	}
	return clip(render.Name(strings.TrimSpace(line[start:end])), 80)
}
