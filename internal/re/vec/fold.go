package vec

import "bytes"

// lower maps A to Z to lower case, and other bytes to themselves.
var lower = func() (t [256]byte) {
	for i := range t {
		t[i] = byte(i)
		if 'A' <= i && i <= 'Z' {
			t[i] = byte(i) + 0x20
		}
	}
	return t
}()

// NewFoldFinder makes a Finder for needle, which it copies, in any ASCII case: the 26 letters match
// both of their cases, every other byte only itself. An empty needle is found at every position.
//
// Unicode folds more: k also matches the Kelvin sign U+212A, s the long s U+017F, and letters
// beyond ASCII may have case variants of other lengths. For those, pass a part of the literal
// without such letters, or list the variants for a Multi.
func NewFoldFinder(needle []byte) *Finder { return newFoldFinder(needle, current()) }

func newFoldFinder(needle []byte, l level) *Finder {
	f := makeFinder(lowered(needle), &lower, l)
	if len(needle) == 1 {
		var set [256]bool
		for c := range lower {
			set[c] = lower[c] == f.needle[0]
		}
		f.one = newByteSet(&set, l)
	}
	return f
}

// lowered returns a copy of b with its ASCII letters in lower case.
func lowered(b []byte) []byte {
	b = bytes.Clone(b)
	for i, c := range b {
		b[i] = lower[c]
	}
	return b
}
