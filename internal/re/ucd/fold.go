package ucd

import (
	"cmp"
	"slices"
	"sync"
	"unicode/utf8"
)

// mapping maps one code point.
type mapping struct{ from, to rune }

func decodePairs(s string) []mapping {
	var out []mapping
	next := rune(0)
	for len(s) > 0 {
		var gap, by rune
		gap, s = uvarint(s)
		by, s = varint(s)
		from := next + gap
		out = append(out, mapping{from, from + by})
		next = from + 1
	}
	return out
}

func find(table []mapping, r rune) (int, bool) {
	return slices.BinarySearchFunc(table, r, func(m mapping, r rune) int { return cmp.Compare(m.from, r) })
}

func apply(table []mapping, r rune) rune {
	if i, ok := find(table, r); ok {
		return table[i].to
	}
	return r
}

var (
	folds  = sync.OnceValue(func() []mapping { return decodePairs(tables[foldLo:foldHi]) })
	uppers = sync.OnceValue(func() []mapping { return decodePairs(tables[upperLo:upperHi]) })
	longer = sync.OnceValue(func() []Range { return decodeSet(tables[upperLongerLo:upperLongerHi]) })
)

// variants lists the characters that have case variants, sorted. The variants of one character
// form a ring from each to the next larger one and from the largest to the smallest.
type variants struct {
	chars []rune
	next  []int32 // for each character, the index of the next one in its ring
}

var orbits = sync.OnceValue(func() (v variants) {
	members := map[rune][]rune{} // by their folded form
	for _, m := range folds() {
		if members[m.to] == nil {
			v.chars = append(v.chars, m.to)
		}
		members[m.to] = append(members[m.to], m.from)
		v.chars = append(v.chars, m.from)
	}
	slices.Sort(v.chars)
	v.next = make([]int32, len(v.chars))
	for to, list := range members {
		list = append(list, to)
		slices.Sort(list)
		for i, r := range list {
			at, _ := slices.BinarySearch(v.chars, r)
			after, _ := slices.BinarySearch(v.chars, list[(i+1)%len(list)])
			v.next[at] = int32(after)
		}
	}
	return v
})

// NextFold returns the next larger character that differs from r only by simple case folding.
// It returns the smallest one if r is the largest, and r if there is no other: NextFold('K') =
// 'k', NextFold('k') = '\u212A' (Kelvin), NextFold('\u212A') = 'K'.
func NextFold(r rune) rune {
	v := orbits()
	if i, ok := slices.BinarySearch(v.chars, r); ok {
		return v.chars[v.next[i]]
	}
	return r
}

// Folds returns the characters outside ranges that fold with one inside. Ranges must be sorted and
// disjoint.
func Folds[R ~struct{ Lo, Hi rune }](ranges []R) (out []Range) {
	v := orbits()
	inside := make([]bool, len(v.chars))
	var list []int32 // the indexes that are set in inside
	i := 0
	for _, r := range ranges {
		r := Range(r)
		n, _ := slices.BinarySearch(v.chars[i:], r.Lo)
		for i += n; i < len(v.chars) && v.chars[i] <= r.Hi; i++ {
			inside[i], list = true, append(list, int32(i))
		}
	}
	for _, i := range list {
		for k := v.next[i]; k != i; k = v.next[k] {
			r := v.chars[k]
			switch {
			case inside[k]:
			case len(out) > 0 && out[len(out)-1].Hi == r-1:
				out[len(out)-1].Hi = r
			default:
				out = append(out, Range{r, r})
			}
		}
	}
	return out
}

// SimpleFold returns r's simple case folding (statuses C and S of CaseFolding.txt), usually
// the lower case.
func SimpleFold(r rune) rune { return apply(folds(), r) }

// SimpleUpper returns r's simple upper case.
func SimpleUpper(r rune) rune {
	if r < utf8.RuneSelf {
		if 'a' <= r && r <= 'z' {
			r -= 'a' - 'A'
		}
		return r
	}
	return apply(uppers(), r)
}

// ECMAUpper implements ECMAScript's Canonicalize for the flag i without u and v. It returns
// the upper case of r, unless that has several characters, or is ASCII while r isn't.
// Characters outside the BMP have no case there, because they are two code units.
func ECMAUpper(r rune) rune {
	if r < utf8.RuneSelf {
		return SimpleUpper(r)
	}
	if r > 0xFFFF {
		return r
	}
	_, many := slices.BinarySearchFunc(longer(), r, func(s Range, r rune) int { return cmp.Compare(s.Lo, r) })
	if up := SimpleUpper(r); !many && up >= utf8.RuneSelf {
		return up
	}
	return r
}
