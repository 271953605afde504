package vec

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// Finder searches for one literal.
//
// It compares the two rarest bytes of the needle at their offsets, at 32 or 64 positions at a
// time, and examines the rest of the needle only where both agree. Needles of up to 16 bytes
// are compared completely inside the kernel, by two overlapping words. For longer ones,
// findLong compares the middle. If failed comparisons read more bytes than the text has, the
// search continues with Two-Way, which takes linear time for every text.
type Finder struct {
	needle []byte
	fold   *[256]byte // nil for exact bytes
	pair   pair
	level  level
	one    *ByteSet // for folded needles of one byte
	linear *twoWay  // for needles over 16 bytes
}

// pair is the input of the pair kernels. The assembly depends on its layout.
type pair struct {
	off1, off2          uint64 // offsets of the two rare bytes
	n                   uint64 // needle length, at least 2
	first, last         uint64 // first and last 8, 4 or 2 bytes, folded
	firstMask, lastMask uint64 // 0x20 for each letter if folding
	b1, b2              byte   // the two rare bytes, folded
	m1, m2              byte   // masks or-ed to the text before comparing it with b1 and b2
	fold                bool
}

// NewFinder makes a Finder for needle, which it copies. An empty needle is found everywhere.
func NewFinder(needle []byte) *Finder { return newFinder(needle, current()) }

func newFinder(needle []byte, l level) *Finder { return makeFinder(bytes.Clone(needle), nil, l) }

func makeFinder(needle []byte, fold *[256]byte, l level) *Finder {
	f := &Finder{needle: needle, fold: fold, level: l}
	if len(needle) > 1 {
		f.pair = newPair(needle, fold)
	}
	if len(needle) > 16 {
		f.linear = newTwoWay(needle, fold)
	}
	return f
}

// Needle returns the literal that f searches for, in lower case if f ignores case. The result
// must not be modified.
func (f *Finder) Needle() []byte { return f.needle }

// Find returns the first position at or after from where the needle begins,
// or -1. A from outside of hay finds nothing, except that an empty needle is
// found at len(hay).
func (f *Finder) Find(hay []byte, from int) int {
	if from < 0 || from > len(hay) {
		return -1
	}
	n := len(f.needle)
	switch {
	case n > len(hay)-from:
		return -1
	case n == 0:
		return from
	case f.one != nil:
		return f.one.Find(hay, from)
	case n == 1:
		return shift(bytes.IndexByte(hay[from:], f.needle[0]), from)
	case n <= 16:
		return pairFind(f.level, &f.pair, hay, from, len(hay)-n+1)
	}
	return findLong(f.level, &f.pair, f.needle, f.fold, f.linear, hay, from)
}

// shift converts the result i of a search in hay[from:] to an offset in hay.
func shift(i, from int) int {
	if i < 0 {
		return -1
	}
	return i + from
}

// findLong searches for a needle of more than 16 bytes. The kernel has compared the 8 bytes at
// both ends of the needle.
//
// A failed comparison of the middle counts with the needle's full length. The allowance is 8
// needles plus 4 times the text passed. It keeps the search linear, even if the caller
// continues after each match, because each match advances by a needle.
func findLong(l level, k *pair, needle []byte, fold *[256]byte, linear *twoWay, hay []byte, from int) int {
	n := len(needle)
	end := len(hay) - n + 1
	credit := 8 * n
	for pos := from; pos < end; {
		i := pairFind(l, k, hay, pos, end)
		if i < 0 {
			return -1
		}
		if equalFold(hay[i+8:i+n-8], needle[8:n-8], fold) {
			return i
		}
		credit += 4*(i+1-pos) - n
		pos = i + 1
		if credit < 0 {
			return linear.find(hay, pos)
		}
	}
	return -1
}

// equalFold reports whether a, mapped by fold if that is not nil, equals b.
func equalFold(a, b []byte, fold *[256]byte) bool {
	if fold == nil {
		return bytes.Equal(a, b)
	}
	for i, c := range b {
		if fold[a[i]] != c {
			return false
		}
	}
	return true
}

// commonness ranks b for the choice of rare bytes. It corrects byteFreq, whose corpus is
// English: a text in another script is full of UTF-8 lead bytes, while its continuation bytes
// vary, and CR ends each line of a Windows file.
func commonness(b byte) int {
	if b >= 0xC2 || b == '\r' {
		return max(150, int(byteFreq[b]))
	}
	return int(byteFreq[b])
}

// foldedCommonness ranks both cases of b together.
func foldedCommonness(b byte) int {
	c := commonness(b)
	if isLower(b) {
		// Adding two similar counts about doubles them, which is 8 on this scale.
		d := commonness(b - 0x20)
		c = max(c, d, min(c, d)+8)
	}
	return c
}

func isLower(b byte) bool { return 'a' <= b && b <= 'z' }

// newPair chooses the rare bytes of needle, which has at least 2 bytes. If fold is given,
// needle is in lower case.
func newPair(needle []byte, fold *[256]byte) pair {
	rank := commonness
	if fold != nil {
		rank = foldedCommonness
	}
	i1 := 0
	for i, b := range needle {
		if rank(b) < rank(needle[i1]) {
			i1 = i
		}
	}
	// The second byte should differ from the first. In a text of few different bytes, two
	// equal ones are less selective.
	i2 := -1
	for i, b := range needle {
		if i == i1 {
			continue
		}
		same, best := b == needle[i1], i2 >= 0 && needle[i2] == needle[i1]
		if i2 < 0 || best && !same || same == best && rank(b) < rank(needle[i2]) {
			i2 = i
		}
	}
	k := pair{
		off1: uint64(i1), off2: uint64(i2), n: uint64(len(needle)),
		b1: needle[i1], b2: needle[i2], fold: fold != nil,
	}
	mask := foldMask(needle, fold)
	k.m1, k.m2 = mask[i1], mask[i2]
	k.first, k.last = ends(needle)
	k.firstMask, k.lastMask = ends(mask)
	return k
}

// foldMask returns, for each byte of needle, 0x20 if it is a letter and case is ignored, else
// 0. Text or-ed with this mask equals the needle exactly where it matches: besides the letter
// itself, only its capital becomes the letter.
func foldMask(needle []byte, fold *[256]byte) []byte {
	mask := make([]byte, len(needle))
	for i, b := range needle {
		if fold != nil && isLower(b) {
			mask[i] = 0x20
		}
	}
	return mask
}

// ends loads the first and the last 8, 4 or 2 bytes of b. For up to 16 bytes they overlap or
// touch, and so cover all of b, which must not be empty.
func ends(b []byte) (first, last uint64) {
	n := len(b)
	switch {
	case n == 1:
		return uint64(b[0]), uint64(b[0])
	case n >= 8:
		return binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[n-8:])
	case n >= 4:
		return uint64(binary.LittleEndian.Uint32(b)), uint64(binary.LittleEndian.Uint32(b[n-4:]))
	}
	return uint64(binary.LittleEndian.Uint16(b)), uint64(binary.LittleEndian.Uint16(b[n-2:]))
}

// verify reports whether the needle is at hay[i:], as far as the first and last bytes tell.
func (k *pair) verify(hay []byte, i int) bool {
	first, last := ends(hay[i : i+int(k.n)])
	return first|k.firstMask == k.first && last|k.lastMask == k.last
}

// pairFindGeneric is the reference for the kernels: it returns the first position in
// [from, end) where both rare bytes and both ends agree, or -1.
//
// It uses bytes.IndexByte for the first rare byte, which has a vector loop on most
// processors. If that stops more often than about every 16 bytes, the plain loop is faster.
func pairFindGeneric(k *pair, hay []byte, from, end int) int {
	if k.fold && k.m1 != 0 {
		return pairLoop(k, hay, from, end)
	}
	off := int(k.off1)
	stops := 0
	for pos := from; pos < end; {
		i := bytes.IndexByte(hay[pos+off:end+off], k.b1)
		if i < 0 {
			return -1
		}
		pos += i
		if hay[pos+int(k.off2)]|k.m2 == k.b2 && k.verify(hay, pos) {
			return pos
		}
		pos++
		if stops++; stops > 8+(pos-from)/16 {
			return pairLoop(k, hay, pos, end)
		}
	}
	return -1
}

// pairLoop compares eight positions at a time in one register. A byte of x1|x2 is zero only
// where both rare bytes agree.
func pairLoop(k *pair, hay []byte, from, end int) int {
	if from >= end {
		return -1
	}
	h1 := hay[from+int(k.off1) : end+int(k.off1)]
	h2 := hay[from+int(k.off2) : end+int(k.off2)]
	b1, m1 := ones*uint64(k.b1), ones*uint64(k.m1)
	b2, m2 := ones*uint64(k.b2), ones*uint64(k.m2)
	i := 0
	for ; i+8 <= len(h1) && i+8 <= len(h2); i += 8 {
		x1 := (binary.LittleEndian.Uint64(h1[i:]) | m1) ^ b1
		x2 := (binary.LittleEndian.Uint64(h2[i:]) | m2) ^ b2
		for z := zeroBytes(x1 | x2); z != 0; z &= z - 1 {
			if at := from + i + bits.TrailingZeros64(z)/8; k.verify(hay, at) {
				return at
			}
		}
	}
	for ; i < len(h1); i++ {
		if h1[i]|k.m1 == k.b1 && h2[i]|k.m2 == k.b2 && k.verify(hay, from+i) {
			return from + i
		}
	}
	return -1
}
