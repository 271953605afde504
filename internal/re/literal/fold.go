package literal

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"quarry/internal/re/hir"
)

// FoldRune returns the representative of r's case orbit: the ASCII lower-case letter if the
// orbit has one (so that the Kelvin sign becomes k and the long s becomes s), else the
// smallest code point.
func FoldRune(r rune) rune {
	if r < utf8.RuneSelf {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}
	low := r
	for c := unicode.SimpleFold(r); c != r; c = unicode.SimpleFold(c) {
		low = min(low, c)
	}
	if 'A' <= low && low <= 'Z' {
		low += 'a' - 'A'
	}
	return low
}

// FoldString folds every rune of s and leaves invalid UTF-8 as it is.
func FoldString(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && size <= 1 {
			b.WriteByte(s[0])
		} else {
			b.WriteRune(FoldRune(r))
		}
		s = s[size:]
	}
	return b.String()
}

// hasCase reports whether s has a character with case variants.
func hasCase(s string) bool {
	for _, r := range s {
		if unicode.SimpleFold(r) != r {
			return true
		}
	}
	return false
}

// classStrings lists the strings of a small class. A class that consists of whole case orbits
// becomes one folded string per orbit.
func classStrings(c *hir.Class) (set Set, loose, ok bool) {
	n := 0
	for _, r := range c.Ranges {
		n += int(r.Hi-r.Lo) + 1
		if n > maxClass {
			return nil, false, false
		}
	}
	if letter, ok := asciiPair(c); ok && (c.Bytes || HasOddCase(string(letter))) {
		return Set{{Text: string(letter), Fold: true, ASCII: HasOddCase(string(letter))}}, false, true
	}
	if c.Bytes {
		for _, r := range c.Ranges {
			for b := r.Lo; b <= r.Hi; b++ {
				set = append(set, Lit{Text: string([]byte{byte(b)})})
			}
		}
		return set, false, true
	}
	if set, ok := orbits(c); ok {
		return set, false, true
	}
	if lit, ok := partOfOrbit(c); ok {
		return Set{lit}, true, true
	}
	for _, r := range c.Ranges {
		for v := r.Lo; v <= r.Hi; v++ {
			set = append(set, Lit{Text: string(v)})
		}
	}
	return set, false, true
}

// asciiPair returns the letter whose two ASCII cases are the class, if it is such a pair.
func asciiPair(c *hir.Class) (rune, bool) {
	if len(c.Ranges) != 2 {
		return 0, false
	}
	up, low := c.Ranges[0], c.Ranges[1]
	ok := up.Lo == up.Hi && low.Lo == low.Hi && 'A' <= up.Lo && up.Lo <= 'Z' && low.Lo == up.Lo+'a'-'A'
	return low.Lo, ok
}

// orbits converts a class to folded strings if it consists of whole orbits and at least one
// of them has more than one member.
func orbits(c *hir.Class) (Set, bool) {
	var set Set
	folds := false
	for _, r := range c.Ranges {
		for v := r.Lo; v <= r.Hi; v++ {
			whole := true
			for o := unicode.SimpleFold(v); o != v; o = unicode.SimpleFold(o) {
				folds = true
				whole = whole && contains(c, o)
			}
			if !whole {
				return nil, false
			}
			if FoldRune(v) == v {
				set = append(set, Lit{Text: string(v), Fold: true})
			}
		}
	}
	return set, folds
}

// partOfOrbit returns one folded string for a class such as [Μμ], which an ECMAScript parser
// makes of a letter with a larger orbit. The string matches more than the class.
func partOfOrbit(c *hir.Class) (Lit, bool) {
	first := FoldRune(c.Ranges[0].Lo)
	n := 0
	for _, r := range c.Ranges {
		for v := r.Lo; v <= r.Hi; v++ {
			if FoldRune(v) != first {
				return Lit{}, false
			}
			n++
		}
	}
	return Lit{Text: string(first), Fold: true}, n > 1
}

func contains(c *hir.Class, r rune) bool {
	for _, rg := range c.Ranges {
		if rg.Lo <= r && r <= rg.Hi {
			return true
		}
	}
	return false
}
