package trigram

import (
	"sync"
	"unicode/utf8"

	"quarry/match"
)

// A Gram combines the classes of three adjacent characters, the first in the highest bits. Its lowest
// bit tells whether one of them is an ASCII capital. A gram with a class 0 is invalid: see broken.
//
// The bit costs little, because a block of text seldom has a gram both with and without
// capitals. In the drivers folder of Linux it adds 10.7 % postings; distinguishing all eight
// ways of writing three letters would add 11.3 %. The bit separates constants and camel case
// from other words: of the 2,319 blocks there with the grams of "pm_resume", 44 have the grams
// of "PM_RESUME" (6 have the word). A case-insensitive search looks for both.
type Gram uint32

const (
	classBits = 7
	classMask = 1<<classBits - 1

	// GramBits is the number of bits of a Gram, and Grams the number of possible values.
	GramBits = 3*classBits + 1
	Grams    = 1 << GramBits

	capital = 1 // bit of a Gram
)

// The alphabet. Every printable ASCII character has its own class; both cases of a letter
// share one. Merging digits or punctuation would have made the index of the Linux tree a few
// percent smaller, and the lists for constants and operators many times longer. All other
// characters share the other 55 classes, by their number modulo 55. The letters of a script
// have adjacent numbers, so they seldom collide.
const (
	classBreak   = 0 // line feed, and bytes that aren't UTF-8
	classControl = 1 // NUL, escape and similar
	classTab     = 2
	classReturn  = 3
	classFirst   = 4 // the printable ASCII characters: 69 after folding
	classOther   = classFirst + 95 - 26
	otherClasses = 1<<classBits - classOther
)

// ascii maps bytes below 0x80 to their classes; its upper half is unused.
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

// class returns the class of a character, which is the same for all its case variants.
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

// basic holds the classes of the first 65,536 characters. Folding one character takes 40 ns,
// building the table, on the first non-ASCII character, 2 ms.
var basic = sync.OnceValue(func() *[1 << 16]uint8 {
	t := new([1 << 16]uint8)
	for r := range t {
		t[r] = foldedClass(rune(r))
	}
	return t
})

// A window describes the last three characters of a text: in its lower half their classes,
// placed as in a Gram, in its upper half a bit for each capital. In both halves a character
// has classBits bits, so one shift moves everything.
type window uint64

const (
	capitalBit = 1 << 32 // the last character is a capital
	windowMask = Grams - 2 | capitalBit | capitalBit<<classBits | capitalBit<<(2*classBits)
)

// push adds a character, given as the window of that character alone.
func (w window) push(code window) window { return (w<<classBits | code) & windowMask }

// gram returns the window's Gram. It has no branch, because capitals are unpredictable.
func (w window) gram() Gram {
	capitals := uint32(w >> 32) // below 1<<15
	return Gram(uint32(w) | (capitals+1<<15-1)>>15)
}

// asciiCode holds, for each byte below 0x80, the window of that character alone.
var asciiCode = func() (t [256]window) {
	for b := range utf8.RuneSelf {
		if t[b] = window(ascii[b]) << 1; 'A' <= b && b <= 'Z' {
			t[b] |= capitalBit
		}
	}
	return t
}()

// broken reports whether a gram spans a line end or something that isn't text.
func (g Gram) broken() bool {
	key := g >> 1
	return key&classMask == 0 || key>>classBits&classMask == 0 || key>>(2*classBits) == 0
}

// hasLetter reports whether one of the characters is an ASCII letter, or has an ASCII letter
// as a case variant.
func (g Gram) hasLetter() bool {
	for key := g >> 1; key != 0; key >>= classBits {
		if isLetter[key&classMask] {
			return true
		}
	}
	return false
}

var isLetter = func() (t [classMask + 1]bool) {
	for b := 'a'; b <= 'z'; b++ {
		t[ascii[b]] = true
	}
	return t
}()
