package repos

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"quarry/internal/remote"
	"quarry/match"
)

// needQuery is a pattern's need as a server can check it. Like the need it may
// be too weak and is never too strong, though a server compares differently:
//
//   - It takes every file for UTF-8. One in Windows-1252 has an é as another
//     byte, so such letters are left out of a text, unless something else in it
//     can't be in such a file anyway.
//   - Its any-case is the lower case of Unicode. That does for all letters of
//     ASCII but s, whose other form ſ is a lower case of its own.
//   - Less than three characters it looks for with a regular expression in
//     every file, whose any-case misses ſ, and which may end at a byte that is
//     no UTF-8. So that little is not asked for; most files have it anyway.
func needQuery(n match.Need) remote.Query {
	switch n.Op {
	case match.NeedNever:
		return remote.None()
	case match.NeedOneOf:
		subs := make([]remote.Query, len(n.Texts))
		for i, t := range n.Texts {
			subs[i] = textQuery(t)
		}
		return remote.Or(subs...)
	case match.NeedAll, match.NeedEither:
		subs := make([]remote.Query, len(n.Subs))
		for i := range n.Subs {
			subs[i] = needQuery(n.Subs[i])
		}
		if n.Op == match.NeedAll {
			return remote.And(subs...)
		}
		return remote.Or(subs...)
	}
	return remote.Query{}
}

// indexedRun is how many characters a server's index knows together.
const indexedRun = 3

// textQuery asks for the parts of a text that can be asked for.
func textQuery(t match.NeedText) remote.Query {
	onlyUTF8 := false
	for _, r := range t.Text {
		onlyUTF8 = onlyUTF8 || r >= 0x80 && !inWindows1252(r, t.Fold)
	}
	runs := strings.FieldsFunc(t.Text, func(r rune) bool {
		return r == unicode.ReplacementChar || r >= 0x80 && !onlyUTF8 && inWindows1252(r, t.Fold) || t.Fold && !foldsByLower(r)
	})
	var all []remote.Query
	for _, run := range runs {
		if utf8.RuneCountInString(run) >= indexedRun {
			all = append(all, runQuery(run, t.Fold))
		}
	}
	return remote.And(all...)
}

// maxLongS bounds the variants of a text with ſ in the place of s: eight.
const maxLongS = 3

// runQuery asks for one text; in any case, also with the long s.
func runQuery(run string, fold bool) remote.Query {
	if !fold || !strings.ContainsRune(run, 's') {
		return remote.Text(run, fold)
	}
	// A part of the text with few s is needed as well as the whole.
	best, from, seen := "", 0, 0
	for to := range len(run) + 1 {
		if to == len(run) || run[to] == 's' && seen == maxLongS {
			if to-from > len(best) {
				best = run[from:to]
			}
			if to == len(run) {
				break
			}
			from += strings.IndexByte(run[from:], 's') + 1
			seen--
		}
		if run[to] == 's' {
			seen++
		}
	}
	variants := []string{""}
	for i, part := range strings.Split(best, "s") {
		if i == 0 {
			variants[0] = part
			continue
		}
		with := make([]string, 0, 2*len(variants))
		for _, v := range variants {
			with = append(with, v+"s"+part, v+"ſ"+part)
		}
		variants = with
	}
	if utf8.RuneCountInString(best) < indexedRun { // sss
		return remote.Query{}
	}
	subs := make([]remote.Query, len(variants))
	for i, v := range variants {
		subs[i] = remote.Text(v, true)
	}
	return remote.Or(subs...)
}

// foldsByLower reports whether all case variants of a letter have the same
// lower case, or runQuery handles them.
func foldsByLower(r rune) bool {
	if r == 's' {
		return true
	}
	low := unicode.ToLower(r)
	for v := unicode.SimpleFold(r); v != r; v = unicode.SimpleFold(v) {
		if unicode.ToLower(v) != low {
			return false
		}
	}
	return true
}

// beyondLatin1 are the characters of Windows-1252 past U+00FF.
const beyondLatin1 = "€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ"

// inWindows1252 reports whether a character, or with fold a case variant of it,
// can be in a file of that encoding.
func inWindows1252(r rune, fold bool) bool {
	in := func(r rune) bool { return r < 0x100 || strings.ContainsRune(beyondLatin1, r) }
	if in(r) || !fold {
		return in(r)
	}
	for v := unicode.SimpleFold(r); v != r; v = unicode.SimpleFold(v) {
		if in(v) {
			return true
		}
	}
	return false
}
