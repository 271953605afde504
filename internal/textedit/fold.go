package textedit

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// fold is a set of ways in which two texts may differ and still look alike. The folds of
// characters come first, then the folds of lines.
type fold uint16

const (
	foldInvisible fold = 1 << iota
	foldSpaces
	foldQuotes
	foldDashes
	foldEllipsis
	foldForm
	foldCase
	foldTrailing
	foldIndent
	foldBlank
	foldWhite

	foldRunes = foldInvisible | foldSpaces | foldQuotes | foldDashes | foldEllipsis | foldForm | foldCase
	foldAll   = foldWhite<<1 - 1
)

// isInvisible reports whether r has no glyph: zero-width characters, the soft hyphen,
// direction marks, the byte order mark, variation selectors.
func isInvisible(r rune) bool {
	switch {
	case r == 0xAD, r == 0x34F, r == 0x61C, r == 0x180E, r == 0xFEFF:
		return true
	case r >= 0x200B && r <= 0x200F, r >= 0x202A && r <= 0x202E, r >= 0x2060 && r <= 0x206F:
		return true
	case r >= 0xFE00 && r <= 0xFE0F, r >= 0xE0000 && r <= 0xE01EF:
		return true
	}
	return false
}

// isOddSpace reports whether r looks like a space but isn't U+0020.
func isOddSpace(r rune) bool {
	return r >= utf8.RuneSelf && (unicode.Is(unicode.Zs, r) || r == 0x85 || r == 0x2028 || r == 0x2029)
}

func quoteOf(r rune) (rune, bool) {
	switch r {
	case 0x2018, 0x2019, 0x201A, 0x201B, 0x2032, 0x02BC, 0xB4, '`', 0xFF07:
		return '\'', true
	case 0x201C, 0x201D, 0x201E, 0x201F, 0x2033, 0xAB, 0xBB, 0xFF02:
		return '"', true
	}
	return r, false
}

func isDash(r rune) bool {
	return r >= 0x2010 && r <= 0x2015 || r == 0x2212 || r == 0xFE58 || r == 0xFE63 || r == 0xFF0D
}

// appendFolded appends r in its folded form under the folds in f.
func appendFolded(dst []rune, r rune, f fold) []rune {
	switch {
	case r < utf8.RuneSelf && r != '`':
	case f&foldInvisible != 0 && isInvisible(r):
		return dst
	case f&foldSpaces != 0 && isOddSpace(r):
		r = ' '
	case f&foldDashes != 0 && isDash(r):
		r = '-'
	case f&foldEllipsis != 0 && r == 0x2026:
		return append(dst, '.', '.', '.')
	case f&foldQuotes != 0:
		r, _ = quoteOf(r)
	}
	if f&foldForm != 0 && r >= 0xC0 {
		return appendDecomposed(dst, r, f)
	}
	return append(dst, foldedCase(r, f))
}

func appendDecomposed(dst []rune, r rune, f fold) []rune {
	var buf [utf8.UTFMax]byte
	var room [32]byte
	parts := norm.NFD.Append(room[:0], buf[:utf8.EncodeRune(buf[:], r)]...)
	for len(parts) > 0 {
		p, n := utf8.DecodeRune(parts)
		dst = append(dst, foldedCase(p, f))
		parts = parts[n:]
	}
	return dst
}

func foldedCase(r rune, f fold) rune {
	if f&foldCase == 0 {
		return r
	}
	if r < utf8.RuneSelf {
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}
	return unicode.ToLower(unicode.ToUpper(r))
}

// apply applies the folds in f to s, whose line endings are \n.
func (f fold) apply(s string) string {
	if f&foldRunes != 0 {
		var b strings.Builder
		var buf []rune
		for _, r := range s {
			buf = appendFolded(buf[:0], r, f)
			for _, r := range buf {
				b.WriteRune(r)
			}
		}
		s = b.String()
	}
	if f&foldWhite != 0 {
		return strings.Join(strings.Fields(s), "")
	}
	if f&(foldTrailing|foldIndent|foldBlank) == 0 {
		return s
	}
	lines := strings.Split(s, "\n")
	kept := lines[:0]
	for _, l := range lines {
		if f&foldTrailing != 0 {
			l = strings.TrimRight(l, " \t\r")
		}
		if f&foldIndent != 0 {
			l = strings.TrimLeft(l, " \t")
		}
		if f&foldBlank == 0 || strings.TrimSpace(l) != "" {
			kept = append(kept, l)
		}
	}
	return strings.Join(kept, "\n")
}

// differences returns the smallest set of folds under which a and b are equal, and false if
// there is none. It begins with all folds and removes each one that isn't needed.
func differences(a, b string) (fold, bool) {
	if foldAll.apply(a) != foldAll.apply(b) {
		return 0, false
	}
	need := foldAll
	for f := foldWhite; f > 0; f >>= 1 {
		if try := need &^ f; try.apply(a) == try.apply(b) {
			need = try
		}
	}
	return need, true
}
