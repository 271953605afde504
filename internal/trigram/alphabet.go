package trigram

import (
	"sync"
	"unicode/utf8"

	"quarry/match"
)

// A Gram is three classes in a row, the first in the highest bits. A gram with
// a class 0 in it is none: see broken.
type Gram uint32

const (
	classBits = 7
	classMask = 1<<classBits - 1

	// Grams is one more than the largest Gram.
	Grams = 1 << (3 * classBits)

	keyMask = Grams - 1
)

// The alphabet. Every printable ASCII character has a class of its own, letters
// one for both cases; merging digits or punctuation would have made the index
// of the Linux tree smaller by a few percent and lists of constants and
// operators many times longer. The other 55 classes are shared by all other
// characters by their number modulo 55, so the letters of one script, which lie
// side by side, seldom meet.
const (
	classBreak   = 0 // line feed, and bytes that aren't UTF-8
	classControl = 1 // NUL, escape and their like
	classTab     = 2
	classReturn  = 3
	classFirst   = 4 // the printable ASCII characters: 69 when folded
	classOther   = classFirst + 95 - 26
	otherClasses = 1<<classBits - classOther
)

// ascii maps bytes below 0x80; the upper half is never looked up.
var ascii = asciiClasses()

func asciiClasses() (t [256]uint8) {
	next := uint8(classFirst)
	for b := range utf8.RuneSelf {
		switch {
		case b == '\n':
			t[b] = classBreak
		case b == '\t':
			t[b] = classTab
		case b == '\r':
			t[b] = classReturn
		case b < ' ' || b == 0x7F:
			t[b] = classControl
		case 'A' <= b && b <= 'Z':
		default:
			t[b] = next
			next++
		}
	}
	for b := 'A'; b <= 'Z'; b++ {
		t[b] = t[match.FoldRune(b)]
	}
	return t
}

// class gives the class of any character, the same for all case variants.
func class(r rune) uint8 {
	if r < utf8.RuneSelf {
		return ascii[byte(r)]
	}
	if r < 1<<16 {
		return basic()[uint16(r)]
	}
	return foldedClass(r)
}

func foldedClass(r rune) uint8 {
	if r = match.FoldRune(r); r < utf8.RuneSelf {
		return ascii[byte(r)]
	}
	return classOther + uint8(r%otherClasses)
}

// basic holds the classes of the first 65,536 characters: folding one by one
// takes 40 ns, the table 2 ms when the first other than ASCII is met.
var basic = sync.OnceValue(func() *[1 << 16]uint8 {
	t := new([1 << 16]uint8)
	for r := range t {
		t[r] = foldedClass(rune(r))
	}
	return t
})

// broken reports a gram that spans a line end or something that isn't text.
func (g Gram) broken() bool {
	return g&classMask == 0 || g>>classBits&classMask == 0 || g>>(2*classBits) == 0
}
