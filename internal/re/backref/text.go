package backref

import (
	"bytes"
	"unicode/utf8"

	"quarry/internal/re/syntax/ecma"
)

// holds reports whether an assertion holds at pos.
func holds(a ecma.Assertion, text []byte, pos int) bool {
	switch a {
	case ecma.Start:
		return pos == 0
	case ecma.End:
		return pos == len(text)
	case ecma.StartLine:
		if pos == 0 {
			return true
		}
		r, _ := utf8.DecodeLastRune(text[:pos])
		return lineTerminator(r)
	case ecma.EndLine:
		if pos == len(text) {
			return true
		}
		r, _ := utf8.DecodeRune(text[pos:])
		return lineTerminator(r)
	}
	before, _ := utf8.DecodeLastRune(text[:pos])
	after, _ := utf8.DecodeRune(text[pos:])
	fold := a == ecma.WordFold || a == ecma.NotWordFold
	at := (pos > 0 && word(before, fold)) != (pos < len(text) && word(after, fold))
	return at == (a == ecma.Word || a == ecma.WordFold)
}

func lineTerminator(r rune) bool {
	return r == '\n' || r == '\r' || r == 0x2028 || r == 0x2029
}

// word reports whether r is in \w, which with the flag i and u or v has two more characters.
func word(r rune, fold bool) bool {
	switch {
	case 'a' <= r|0x20 && r|0x20 <= 'z', '0' <= r && r <= '9', r == '_':
		return true
	}
	return fold && (r == 0x17F || r == 0x212A)
}

// backref matches the text of the group in in.groups that is set, or nothing if all are unset.
func (m *Matcher) backref(in *inst, text []byte, pos int) (int, bool) {
	for _, g := range in.groups {
		lo, hi := m.slots[2*g], m.slots[2*g+1]
		if lo < 0 || hi < 0 {
			continue
		}
		want := text[lo:hi]
		m.steps -= int64(len(want)) >> 3
		if in.fold != ecma.FoldNone {
			m.steps -= int64(len(want))
			return foldMatch(in, want, text, pos)
		}
		if in.back {
			return pos - len(want), bytes.HasSuffix(text[:pos], want)
		}
		return pos + len(want), bytes.HasPrefix(text[pos:], want)
	}
	return pos, true
}

// foldMatch compares character by character, because characters that fold to each other may
// differ in length.
func foldMatch(in *inst, want, text []byte, pos int) (int, bool) {
	for len(want) > 0 {
		var a, b rune
		var n, k int
		if in.back {
			a, n = utf8.DecodeLastRune(want)
			b, k = utf8.DecodeLastRune(text[:pos])
			want, pos = want[:len(want)-n], pos-k
		} else {
			a, n = utf8.DecodeRune(want)
			b, k = utf8.DecodeRune(text[pos:])
			want, pos = want[n:], pos+k
		}
		if k == 0 || k == 1 && b == utf8.RuneError || a != b && in.fold.Canonical(a) != in.fold.Canonical(b) {
			return pos, false
		}
	}
	return pos, true
}
