// Package rank scores texts by how well they answer a query of words.
//
// It is pure: text in, numbers out, and the same text and query always give
// the same score. It knows identifiers (getUserName and get_user_name are both
// get, user, name), definitions, headings and file names.
package rank

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxTerms bounds a query; what follows adds nothing to a ranking.
const maxTerms = 16

// Terms splits a query into the words to look for, folded to lower case and
// without repetition: by white space, punctuation and the humps of identifiers.
func Terms(query string) []string {
	var terms []string
	add := func(t string) {
		if t != "" && !slices.Contains(terms, t) && len(terms) < maxTerms {
			terms = append(terms, t)
		}
	}
	for _, word := range strings.FieldsFunc(query, func(r rune) bool { return !isWord(r) }) {
		for _, part := range parts(word) {
			add(strings.ToLower(part))
		}
	}
	if len(terms) == 0 { // only punctuation: look for it as it stands
		for _, f := range strings.Fields(query) {
			add(strings.ToLower(f))
		}
	}
	return terms
}

func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// parts splits an identifier: HTTPServer_id2 is HTTP, Server, id2.
func parts(word string) []string {
	var out []string
	runes := []rune(word)
	start := 0
	cut := func(end int) {
		if end > start {
			out = append(out, string(runes[start:end]))
		}
		start = end
	}
	for i, r := range runes {
		switch {
		case r == '_':
			cut(i)
			start = i + 1
		case i > start && startsPart(runes, i):
			cut(i)
		}
	}
	cut(len(runes))
	return out
}

// startsPart reports whether a new part of an identifier begins at i, which
// follows another character of it.
func startsPart(runes []rune, i int) bool {
	prev, r := runes[i-1], runes[i]
	if !unicode.IsUpper(r) {
		return false
	}
	if !unicode.IsUpper(prev) {
		return true // userName
	}
	return i+1 < len(runes) && unicode.IsLower(runes[i+1]) // HTTPServer
}

// quality tells how much an occurrence of a term counts: all of a part of an
// identifier, its beginning, or something in the middle of another word.
func quality(line []byte, start, end int) float64 {
	atStart := boundary(line, start)
	atEnd := boundary(line, end)
	switch {
	case atStart && atEnd:
		return 1
	case atStart:
		return 0.6
	}
	return 0.25
}

// boundary reports whether a part of an identifier can begin or end at i.
func boundary(line []byte, i int) bool {
	if i <= 0 || i >= len(line) {
		return true
	}
	before, _ := utf8.DecodeLastRune(line[:i])
	after, size := utf8.DecodeRune(line[i:])
	if !isWord(before) || !isWord(after) || before == '_' || after == '_' {
		return true
	}
	if unicode.IsUpper(after) {
		if !unicode.IsUpper(before) {
			return true
		}
		next, _ := utf8.DecodeRune(line[i+size:])
		return unicode.IsLower(next)
	}
	return unicode.IsLetter(before) != unicode.IsLetter(after)
}
