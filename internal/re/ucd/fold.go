package ucd

import (
	"cmp"
	"slices"
	"sort"
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

// orbits maps every character that has case variants to its next larger variant, and the
// largest to the smallest.
var orbits = sync.OnceValue(func() []mapping {
	members := map[rune][]rune{} // by their folded form
	for _, m := range folds() {
		members[m.to] = append(members[m.to], m.from)
	}
	var out []mapping
	for to, list := range members {
		list = append(list, to)
		slices.Sort(list)
		for i, r := range list {
			out = append(out, mapping{r, list[(i+1)%len(list)]})
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].from < out[j].from })
	return out
})

// NextFold returns the next larger character that differs from r only by simple case folding.
// It returns the smallest one if r is the largest, and r if there is no other: NextFold('K') =
// 'k', NextFold('k') = '\u212A' (Kelvin), NextFold('\u212A') = 'K'.
func NextFold(r rune) rune { return apply(orbits(), r) }

// AppendFolds appends, for each character from lo to hi, the other characters that it folds with.
func AppendFolds(dst []Range, lo, hi rune) []Range {
	table := orbits()
	i, _ := find(table, lo)
	for ; i < len(table) && table[i].from <= hi; i++ {
		from := table[i].from
		for r := table[i].to; r != from; r = NextFold(r) {
			if n := len(dst); n > 0 && dst[n-1].Hi == r-1 {
				dst[n-1].Hi = r
				continue
			}
			dst = append(dst, Range{r, r})
		}
	}
	return dst
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
