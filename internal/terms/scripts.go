package terms

import "unicode"

// WithoutSpaces recognizes characters of scripts without spaces between words, or with endings
// attached to words, such as Korean. The mark for long vowels belongs to no script.
func WithoutSpaces(r rune) bool {
	switch {
	case r < 0x0E00:
		return false
	case 0x4E00 <= r && r <= 0x9FFF, 0xAC00 <= r && r <= 0xD7A3, 0x3041 <= r && r <= 0x3096, 0x30A1 <= r && r <= 0x30FA: // most such characters
		return true
	}
	return r == 'ー' || r == 'ｰ' ||
		unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan)
}
