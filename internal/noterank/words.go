package noterank

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"quarry/internal/terms"
)

// eachWord calls f for every word of a text until f returns false. start and end are the
// word's position; word is the word in lower case without accents. f may modify word, which
// is only valid during the call. If begins is not nil, words that begin with other bytes
// may be skipped.
func eachWord(text []byte, begins *pairSet, f func(start, end int, word []byte) bool) {
	buf := make([]byte, 0, maxWord)
	for i := 0; i < len(text); {
		c := asciiWord[text[i]]
		if c == 0 {
			i++
			continue
		}
		if c != beyondASCII {
			start, n := i, 0
			short := buf[:maxWord]
			if begins != nil && i+1 < len(text) {
				// The first two bytes are enough to skip most words.
				if second := asciiWord[text[i+1]]; second != beyondASCII && !begins.has(uint16(c)<<8|uint16(second)) {
					for i++; i < len(text) && asciiWord[text[i]] > beyondASCII; i++ {
					}
					if i == len(text) || asciiWord[text[i]] == 0 {
						continue
					}
					i = start // the word also contains non-ASCII letters
				}
			}
			for ; i < len(text); i++ {
				if c = asciiWord[text[i]]; c == 0 || c == beyondASCII {
					break
				}
				if n < maxWord {
					short[n] = c
				}
				n++
			}
			if i == len(text) || c == 0 {
				if n <= maxWord && !f(start, i, short[:n]) {
					return
				}
				continue
			}
			i = start
		}
		if next := eachPair(text, i, f); next > i {
			i = next
			continue
		}
		start := i
		ascii := true
		buf = buf[:0]
		for i < len(text) {
			c := asciiWord[text[i]]
			if c == 0 {
				break
			}
			if c != beyondASCII {
				buf = append(buf, c)
				i++
				continue
			}
			r, n := utf8.DecodeRune(text[i:])
			if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) || terms.WithoutSpaces(r) {
				break
			}
			ascii = false
			buf = append(buf, text[i:i+n]...)
			i += n
		}
		if i == start { // the character is not a letter
			_, n := utf8.DecodeRune(text[i:])
			i += n
			continue
		}
		word := buf
		if !ascii {
			word = foldAccents(buf)
		}
		if len(word) > 0 && len(word) <= maxWord && !f(start, i, word) {
			return
		}
	}
}

// pairSet is a set of results of firstPair.
type pairSet [1 << 10]uint64

func (s *pairSet) add(pair uint16) { s[pair>>6] |= 1 << (pair & 63) }

func (s *pairSet) has(pair uint16) bool { return s[pair>>6]>>(pair&63)&1 != 0 }

// eachPair processes the characters at an offset that belong to a script without spaces
// between words, and returns their end. It calls f for each pair of adjacent characters,
// or for a single character. So a word of several characters is found by its pairs,
// wherever it occurs. If f returns false, eachPair returns the end of the text.
func eachPair(text []byte, at int, f func(start, end int, word []byte) bool) int {
	if text[at] < 0xE0 { // less than the first character of these scripts
		return at
	}
	before, last := -1, -1 // offsets of the previous and the current character
	emit := func(start, end int) bool { return f(start, end, norm.NFC.Append(nil, text[start:end]...)) }
	for at < len(text) {
		r, n := utf8.DecodeRune(text[at:])
		if last >= 0 && unicode.IsMark(r) { // part of the previous character
			at += n
			continue
		}
		if !terms.WithoutSpaces(r) || !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			break
		}
		if before >= 0 && !emit(before, at) {
			return len(text)
		}
		before, last = last, at
		at += n
	}
	if before < 0 {
		before = last
	}
	if before >= 0 && !emit(before, at) {
		return len(text)
	}
	return at
}

// maxWord is the maximum length of a word in bytes.
const maxWord = 64

// beyondASCII marks bytes of non-ASCII characters.
const beyondASCII = 1

// asciiWord maps bytes of words to lower case, and other bytes to 0.
var asciiWord = func() (t [256]byte) {
	for c := range t {
		switch {
		case c >= utf8.RuneSelf:
			t[c] = beyondASCII
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
			t[c] = byte(c)
		case 'A' <= c && c <= 'Z':
			t[c] = byte(c) + 'a' - 'A'
		}
	}
	return t
}()

// foldAccents removes accents from letters and converts them to lower case.
func foldAccents(word []byte) []byte {
	var out []byte
	for _, r := range string(norm.NFD.Bytes(word)) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case r == 'ß':
			out = append(out, "ss"...)
		case r == 'ø' || r == 'Ø':
			out = append(out, 'o')
		case r == 'æ' || r == 'Æ':
			out = append(out, "ae"...)
		case r == 'ł' || r == 'Ł':
			out = append(out, 'l')
		default:
			out = utf8.AppendRune(out, unicode.ToLower(r))
		}
	}
	return out
}

var stopWords = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`a an and are as at be by for from has have how i if in into is it its my of on or
		our so that the their them there these they this to us was we what when where which who why will with you your
		can do does did not no but about than then s t`) {
		m[w] = true
	}
	return m
}()

// foldCase converts letters to lower case.
func foldCase(s []byte) []byte { return bytes.ToLower(s) }
