package vec

import "bytes"

// FoldFinder searches for one literal in any ASCII case: the 26 letters match
// both of their cases, every other byte only itself.
//
// Unicode folds more: K matches the Kelvin sign U+212A, s the long s U+017F,
// and letters beyond ASCII have cases of other lengths. A caller who wants
// that gives the FoldFinder a part of the literal without such letters, or
// spells out the variants for a Multi.
type FoldFinder struct {
	needle []byte // in lower case
	pair   pair
	level  level
	one    *ByteSet // for needles of one byte
	linear *twoWay  // for needles over 16 bytes
}

// lower maps A to Z to lower case.
var lower = func() (t [256]byte) {
	for i := range t {
		t[i] = byte(i)
		if 'A' <= i && i <= 'Z' {
			t[i] = byte(i) + 0x20
		}
	}
	return t
}()

// NewFoldFinder makes a FoldFinder for needle, which it copies. An empty
// needle is found everywhere.
func NewFoldFinder(needle []byte) *FoldFinder { return newFoldFinder(needle, current()) }

func newFoldFinder(needle []byte, l level) *FoldFinder {
	f := &FoldFinder{needle: lowered(needle), level: l}
	switch n := len(needle); {
	case n == 1:
		var set [256]bool
		for c := range lower {
			set[c] = lower[c] == f.needle[0]
		}
		f.one = newByteSet(&set, l)
	case n > 1:
		f.pair = newPair(f.needle, &lower)
	}
	if len(needle) > 16 {
		f.linear = newTwoWay(f.needle, &lower)
	}
	return f
}

// lowered copies b with its ASCII letters in lower case.
func lowered(b []byte) []byte {
	b = bytes.Clone(b)
	for i, c := range b {
		b[i] = lower[c]
	}
	return b
}

// Needle returns the literal that f searches for, in lower case; it is not to
// be changed.
func (f *FoldFinder) Needle() []byte { return f.needle }

// Find returns the first position at or after from where the needle begins in
// any case, or -1. A from outside of hay finds nothing, except that an empty
// needle is found at len(hay).
func (f *FoldFinder) Find(hay []byte, from int) int {
	if from < 0 || from > len(hay) {
		return -1
	}
	n := len(f.needle)
	switch {
	case n > len(hay)-from:
		return -1
	case n == 0:
		return from
	case n == 1:
		return f.one.Find(hay, from)
	case n <= 16:
		return pairFind(f.level, &f.pair, hay, from, len(hay)-n+1)
	}
	return findLong(f.level, &f.pair, f.needle, &lower, f.linear, hay, from)
}
