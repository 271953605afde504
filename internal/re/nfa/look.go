package nfa

import (
	"unicode/utf8"

	"quarry/internal/re/hir"
	"quarry/internal/re/ucd"
)

// Sets of assertions that engines treat alike.
const (
	// LooksUnicode are the assertions that depend on whole scalar values around the position,
	// not only on the two bytes next to it.
	LooksUnicode LookSet = 1<<hir.LookWordUnicode | 1<<hir.LookNotWordUnicode |
		1<<hir.LookWordStartUnicode | 1<<hir.LookWordEndUnicode |
		1<<hir.LookWordStartHalfUnicode | 1<<hir.LookWordEndHalfUnicode |
		1<<hir.LookStartLineJS | 1<<hir.LookEndLineJS

	// LooksWord are the word tests, ASCII and Unicode.
	LooksWord LookSet = 1<<hir.LookWordASCII | 1<<hir.LookNotWordASCII |
		1<<hir.LookWordUnicode | 1<<hir.LookNotWordUnicode |
		1<<hir.LookWordStartASCII | 1<<hir.LookWordEndASCII |
		1<<hir.LookWordStartUnicode | 1<<hir.LookWordEndUnicode |
		1<<hir.LookWordStartHalfASCII | 1<<hir.LookWordEndHalfASCII |
		1<<hir.LookWordStartHalfUnicode | 1<<hir.LookWordEndHalfUnicode
)

// Holds reports whether assertion l holds in hay at offset at. It sees all of hay, even if
// only a part is being searched.
//
// Next to invalid UTF-8 the Unicode tests behave like Rust's: an invalid byte is not a word
// character for \b, and assertions that could otherwise hold with only invalid bytes around
// (\B, the half tests) fail.
func Holds(l hir.Look, hay []byte, at int) bool {
	switch l {
	case hir.LookStart:
		return at == 0
	case hir.LookEnd:
		return at == len(hay)
	case hir.LookStartLine:
		return at == 0 || hay[at-1] == '\n'
	case hir.LookEndLine:
		return at == len(hay) || hay[at] == '\n'
	case hir.LookStartCRLF:
		return at == 0 || hay[at-1] == '\n' || hay[at-1] == '\r' && (at == len(hay) || hay[at] != '\n')
	case hir.LookEndCRLF:
		return at == len(hay) || hay[at] == '\r' || hay[at] == '\n' && (at == 0 || hay[at-1] != '\r')
	case hir.LookStartLineJS:
		return at == 0 || hay[at-1] == '\n' || hay[at-1] == '\r' || separator(hay[:at], at-3)
	case hir.LookEndLineJS:
		return at == len(hay) || hay[at] == '\n' || hay[at] == '\r' || separator(hay, at)
	case hir.LookWordASCII:
		return wordByteBefore(hay, at) != wordByteAfter(hay, at)
	case hir.LookNotWordASCII:
		return wordByteBefore(hay, at) == wordByteAfter(hay, at)
	case hir.LookWordStartASCII:
		return !wordByteBefore(hay, at) && wordByteAfter(hay, at)
	case hir.LookWordEndASCII:
		return wordByteBefore(hay, at) && !wordByteAfter(hay, at)
	case hir.LookWordStartHalfASCII:
		return !wordByteBefore(hay, at)
	case hir.LookWordEndHalfASCII:
		return !wordByteAfter(hay, at)
	}
	return holdsUnicode(l, hay, at)
}

func holdsUnicode(l hir.Look, hay []byte, at int) bool {
	before, validBefore := wordBefore(hay, at)
	after, validAfter := wordAfter(hay, at)
	switch l {
	case hir.LookWordUnicode:
		return before != after
	case hir.LookNotWordUnicode:
		return validBefore && validAfter && before == after
	case hir.LookWordStartUnicode:
		return !before && after
	case hir.LookWordEndUnicode:
		return before && !after
	case hir.LookWordStartHalfUnicode:
		return validBefore && !before
	case hir.LookWordEndHalfUnicode:
		return validAfter && !after
	}
	return false // LookNone: not an assertion
}

// separator reports whether U+2028 or U+2029 is at offset i.
func separator(hay []byte, i int) bool {
	return i >= 0 && i+3 <= len(hay) && hay[i] == 0xE2 && hay[i+1] == 0x80 && hay[i+2]&^1 == 0xA8
}

// wordBefore reports whether the scalar value before at is a word character. valid reports
// whether a valid one, or the edge of the text, is before at.
func wordBefore(hay []byte, at int) (word, valid bool) {
	if at == 0 {
		return false, true
	}
	if b := hay[at-1]; b < utf8.RuneSelf {
		return IsWordByte(b), true
	}
	r, n := utf8.DecodeLastRune(hay[:at])
	if r == utf8.RuneError && n == 1 {
		return false, false
	}
	return ucd.IsWord(r), true
}

func wordAfter(hay []byte, at int) (word, valid bool) {
	if at == len(hay) {
		return false, true
	}
	if b := hay[at]; b < utf8.RuneSelf {
		return IsWordByte(b), true
	}
	r, n := utf8.DecodeRune(hay[at:])
	if r == utf8.RuneError && n == 1 {
		return false, false
	}
	return ucd.IsWord(r), true
}

func wordByteBefore(hay []byte, at int) bool { return at > 0 && IsWordByte(hay[at-1]) }
func wordByteAfter(hay []byte, at int) bool  { return at < len(hay) && IsWordByte(hay[at]) }

// IsWordByte reports whether b is in [0-9A-Za-z_].
func IsWordByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_'
}

// SplitsRune reports whether offset at is inside a valid encoded scalar value.
func SplitsRune(hay []byte, at int) bool {
	if at <= 0 || at >= len(hay) || utf8.RuneStart(hay[at]) {
		return false
	}
	for i := at - 1; i >= 0 && i >= at-3; i-- {
		if utf8.RuneStart(hay[i]) {
			r, n := utf8.DecodeRune(hay[i:])
			return !(r == utf8.RuneError && n == 1) && i+n > at
		}
	}
	return false
}
