// Package terms splits texts into the terms that a ranked search counts.
//
// A text is a sequence of parts: the pieces of its identifiers and words. The term of a
// part is the part in lower case and without its ending, so getUserNames and
// get_user_name are both get, user, nam. No part crosses the end of a line: the parts of
// a text are the parts of its lines. The package is pure.
package terms

import "unicode/utf8"

// MaxPart limits the length of a part; longer runs are data, not words.
const MaxPart = 40

// partKind classifies bytes: 0 ends a word, 1 is a lower-case letter or not ASCII, 2 an
// upper-case letter, 3 a digit, 4 an underscore.
var partKind = func() (t [256]uint8) {
	for c := range t {
		switch {
		case c >= 'a' && c <= 'z' || c >= 0x80:
			t[c] = 1
		case c >= 'A' && c <= 'Z':
			t[c] = 2
		case c >= '0' && c <= '9':
			t[c] = 3
		case c == '_':
			t[c] = 4
		}
	}
	return t
}()

// InWord reports whether a byte belongs to a word; bytes outside ASCII always do.
func InWord(c byte) bool { return partKind[c] != 0 }

// EachPart calls f with the offsets of every part of text: HTTPServer_id2 has HTTP,
// Server, id2. word reports that the part begins an identifier.
func EachPart(text []byte, f func(start, end int, word bool)) {
	n := len(text)
	for i := 0; i < n; {
		if partKind[text[i]] == 0 {
			i++
			continue
		}
		first := true
		for i < n && partKind[text[i]] != 0 {
			if partKind[text[i]] == 4 {
				i++
				continue
			}
			start := i
			i = partEnd(text, i)
			f(start, i, first)
			first = false
		}
	}
}

// partEnd returns the end of the part that starts at i.
func partEnd(text []byte, i int) int {
	n := len(text)
	upper := partKind[text[i]] == 2
	i++
	if upper && i < n && partKind[text[i]] == 2 { // HTTP, HTTPServer
		for i < n && (partKind[text[i]] == 2 || partKind[text[i]] == 3) {
			if i+1 < n && partKind[text[i]] == 2 && partKind[text[i+1]] == 1 && text[i+1] < 0x80 {
				if text[i+1] == 's' && (i+2 >= n || partKind[text[i+2]] != 1) { // URLs
					return i + 2
				}
				return i
			}
			i++
		}
		return i
	}
	for i < n && (partKind[text[i]] == 1 || partKind[text[i]] == 3) {
		i++
	}
	return i
}

// AppendFolded appends a part in lower case.
func AppendFolded(dst, part []byte) []byte {
	for _, c := range part {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}

// stem removes the ending of a folded word, so that the forms of a word are one term. It
// only shortens, so a term is a prefix of each of its words.
func stem(w []byte) []byte {
	if len(w) <= 3 || w[len(w)-1] >= 0x80 {
		return w
	}
	switch {
	case has(w, "ies") && len(w) > 4:
		w = w[:len(w)-3]
		return w
	case has(w, "sses"), has(w, "xes"), has(w, "ches"), has(w, "shes"):
		w = w[:len(w)-2]
	case has(w, "s") && !has(w, "ss") && !has(w, "us") && !has(w, "is"):
		w = w[:len(w)-1]
	}
	for _, e := range endingsBy[w[len(w)-1]] {
		if has(w, e.text) && len(w)-len(e.text) >= e.keep {
			w = w[:len(w)-len(e.text)]
			break
		}
	}
	if n := len(w); n > 3 && w[n-1] == w[n-2] && !vowel(w[n-1]) && w[n-1] != 's' && w[n-1] != 'l' {
		w = w[:n-1] // stopped, stop
	}
	if n := len(w); n > 3 && w[n-1] == 'e' || n > 4 && (w[n-1] == 'y' || w[n-1] == 'i') {
		w = w[:n-1]
	}
	return w
}

type ending struct {
	text string
	keep int // letters that must remain
}

// endingsBy contains the endings by their last letter, in the order in which they are tried.
// (Building a table would cost every program start 0.05 ms.)
var endingsBy = [256][]ending{
	'd': {{"ated", 4}, {"ized", 3}, {"ed", 3}},
	'e': {{"ate", 4}, {"ize", 4}, {"able", 4}, {"ible", 4}, {"ive", 4}},
	'g': {{"ating", 4}, {"izing", 3}, {"ing", 3}},
	'l': {{"al", 5}},
	'n': {{"ization", 3}, {"ation", 4}, {"ion", 4}},
	'r': {{"ator", 4}, {"izer", 3}, {"er", 4}, {"or", 4}},
	's': {{"ations", 4}, {"ators", 4}, {"ates", 4}, {"ements", 4}, {"ments", 4}, {"ings", 3}, {"ions", 4}, {"ness", 4}, {"ers", 4}, {"ors", 4}},
	't': {{"ement", 4}, {"ment", 4}},
	'y': {{"ally", 4}, {"ly", 4}},
}

func has(w []byte, end string) bool {
	return len(w) >= len(end) && string(w[len(w)-len(end):]) == end
}

func vowel(c byte) bool { return c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u' }

// Append appends the term of a part to dst.
func Append(dst, part []byte) []byte {
	start := len(dst)
	if len(part) > MaxPart {
		part = part[:MaxPart]
		for len(part) > 0 && !utf8.Valid(part) {
			part = part[:len(part)-1]
		}
	}
	dst = AppendFolded(dst, part)
	return dst[:start+len(stem(dst[start:]))]
}
