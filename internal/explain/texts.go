package explain

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"quarry/fault"
	"quarry/internal/render"
	"quarry/match"
	"quarry/search"
)

// lazily compiles an expression on first use. Compiling all expressions at start would
// cost every command a quarter of a millisecond.
func lazily(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// literalOf returns the literal text that a query searches for. ok is false if it isn't
// literal.
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

// unescapeBreaks replaces \n in a pattern by line breaks.
func unescapeBreaks(pattern string) string {
	return strings.NewReplacer(`\r\n`, "\n", `\n`, "\n").Replace(pattern)
}

// LongestLine returns the longest line of a pattern with several lines, or "".
func LongestLine(pattern string) string {
	best := ""
	lines := strings.FieldsFunc(unescapeBreaks(pattern), func(r rune) bool { return r == '\n' || r == '\r' })
	for _, line := range lines {
		if line = strings.TrimSpace(line); len(line) > len(best) && len(lines) > 1 {
			best = line
		}
	}
	return best
}

// spaced returns a pattern that matches the words of a text with any white space between
// them.
func spaced(text string) string {
	words := strings.Fields(text)
	for i, w := range words {
		words[i] = regexp.QuoteMeta(w)
	}
	return strings.Join(words, `\s+`)
}

var callForm = lazily(`^([\w$.:>-]*\w)\s*\(.*$`)

// bareForms returns a text without parts that are often copied along: the parentheses of a
// call, the object before a method, quotes, punctuation at the end.
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

// identifier matches an identifier, or a few words that may stand for one.
var identifier = lazily(`^[\pL_][\pL\pN_-]*( [\pL\pN_-]+){0,3}$`)

// styles returns a pattern for an identifier in any style: max_bytes, maxBytes, max-bytes,
// "max bytes". It returns "" for a single word.
func styles(text string) string {
	words := Parts(text)
	if len(words) < 2 || len(words) > 8 || !identifier().MatchString(text) {
		return ""
	}
	for i, w := range words {
		words[i] = regexp.QuoteMeta(w)
	}
	return strings.Join(words, `[_\- ]?`)
}

// minNear and maxNear are the lengths of texts that are searched with one wrong
// character. A shorter text is similar to too many others, and a longer one is not a
// name.
const minNear, maxNear = 5, 40

// oneEdit returns patterns for the texts that differ by one character: replaced, removed,
// added, or two swapped. Each pattern leaves one half of the text unchanged, so that an
// index can find the files. With a single pattern for all texts, every file would have to be
// read.
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

// edits returns patterns for a text with one wrong character. If the last character is
// removed or replaced, a word must end there, because otherwise every longer word would
// match.
func edits(text []rune, end bool) []string {
	var list []string
	for i := range text {
		before, after := quoteRunes(text[:i]), quoteRunes(text[i+1:])
		switch {
		case i+1 == len(text) && end:
			list = append(list, before+`\b`, before+`[^\s]\b`)
		default:
			list = append(list, before+`[^\s]?`+after) // another character, or none
		}
		if i+1 < len(text) && text[i] != text[i+1] {
			list = append(list, before+quoteRunes([]rune{text[i+1], text[i]})+quoteRunes(text[i+2:]))
		}
		list = append(list, before+`[^\s]`+quoteRunes(text[i:]))
	}
	return list
}

// wholeWord extends a match at both ends to whole words.
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
	return fault.Clip(render.Name(strings.TrimSpace(line[start:end])), 80)
}

// Parts returns the words of an identifier in lower case. They are the same for
// maxBytesPerLine and max_bytes_per_line.
func Parts(identifier string) []string {
	var out []string
	var word []rune
	end := func() {
		if len(word) > 0 {
			out = append(out, strings.ToLower(string(word)))
			word = word[:0]
		}
	}
	runes := []rune(identifier)
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			end()
			continue
		case unicode.IsUpper(r) && i > 0 && (unicode.IsLower(runes[i-1]) || unicode.IsDigit(runes[i-1])),
			unicode.IsUpper(r) && i+1 < len(runes) && unicode.IsLower(runes[i+1]):
			end()
		}
		word = append(word, r)
	}
	end()
	return out
}
