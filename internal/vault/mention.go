package vault

import (
	"strings"
	"unicode/utf8"
)

// Mentions returns case-insensitive regular expressions. In every file that links to a
// file with one of the names, at least one of them matches; they may also match in other
// files. ok is false if a name is too short to search for; then every file must be read.
// For 5,000 notes, scanning for links takes 80 ms of processor time and a search for a
// few words 5 ms, or less with an index.
func Mentions(names []string) (exprs []string, ok bool) {
	for _, name := range names {
		expr, ok := nameExpr(base(name))
		if !ok {
			return nil, false
		}
		exprs = append(exprs, expr)
	}
	return append(exprs, mentionCodes...), true
}

// mentionCodes match encoded letters and digits. Each expression has few variants of
// three characters, so an index can look them up.
var mentionCodes = []string{
	`%3[0-9]`, `%4[1-9]`, `%4[a-f]`, `%5[0-9]`, `%5a`, `%6[1-9]`, `%6[a-f]`, `%7[0-9]`, `%7a`, `&#[0-9x]`, `&fj`, `\\u00`,
}

// nameExpr returns a pattern that matches a name in a link, however it is encoded. Runs
// of ASCII letters and digits match literally. Any other ASCII character becomes a gap,
// because it may be percent-encoded, escaped or an entity. A non-ASCII character has too
// many encodings, of up to 30 characters, so it splits the name; nameExpr then uses the
// part with the most letters.
func nameExpr(name string) (string, bool) {
	for isNote(name) {
		name = name[:len(name)-len(".md")]
	}
	best, most := "", 0
	var b strings.Builder
	letters, gap := 0, 0
	end := func() {
		if letters > most {
			best, most = b.String(), letters
		}
		b.Reset()
		letters, gap = 0, 0
	}
	for name != "" {
		r, size := utf8.DecodeRuneInString(name)
		name = name[size:]
		switch {
		case r >= utf8.RuneSelf, name != "" && name[0] >= utf8.RuneSelf:
			end() // a combining mark may combine with the letter before it
			continue
		case !isAlnum(byte(r)):
			gap++
			continue
		}
		if gap >= len(mentionGaps) {
			end()
		} else if letters > 0 {
			b.WriteString(mentionGaps[gap])
		}
		gap = 0
		b.WriteRune(r)
		letters++
	}
	end()
	return best, most >= 2
}

// mentionGaps match zero to three ASCII characters in any encoding. The longest encoding
// of a character is &DiacriticalGrave; with 18 characters.
var mentionGaps = [...]string{"", ".{1,18}", ".{1,36}", ".{1,54}"}
