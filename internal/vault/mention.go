package vault

import (
	"strings"
	"unicode/utf8"
)

// Mentions returns case-insensitive regular expressions, one of which matches in every
// file that links to a file of one of these names; they may match in other files too. ok
// is false for a name that is too short to search for; then every file has to be read.
// Scanning 5,000 notes for links takes 80 ms of processor time, searching them for a few
// words 5 ms, and less with an index.
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

// mentionCodes match encoded letters and digits. Each has few spellings of three
// characters, so an index can look them up.
var mentionCodes = []string{
	`%3[0-9]`, `%4[1-9]`, `%4[a-f]`, `%5[0-9]`, `%5a`, `%6[1-9]`, `%6[a-f]`, `%7[0-9]`, `%7a`, `&#[0-9x]`, `&fj`, `\\u00`,
}

// nameExpr returns a pattern for every way to write a name in a link: its runs of ASCII
// letters and digits, with a gap for every other character, which may be percent-encoded,
// escaped or an entity. A non-ASCII character can be composed in several ways and take 30
// characters, so the pattern ends there. Of the parts between such characters, nameExpr
// uses the one with the most letters.
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
			end() // a combining mark may join the letter before it
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

// mentionGaps match zero to three ASCII characters: the longest spelling of one is
// &DiacriticalGrave; with 18.
var mentionGaps = [...]string{"", ".{1,18}", ".{1,36}", ".{1,54}"}
