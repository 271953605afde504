package nfa

import "unicode"

// isWord reports whether r is in Unicode's \w: Alphabetic, Mark, decimal
// Number, connector Punctuation or Join_Control.
func isWord(r rune) bool {
	return unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Nl, unicode.Pc,
		unicode.Other_Alphabetic, unicode.Join_Control)
}
