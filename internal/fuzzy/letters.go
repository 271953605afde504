package fuzzy

import (
	"bytes"

	"quarry/internal/splice"
)

// scatter rates a text whose letters occur in order, in the name or else in the path. The score is
// higher if they are closer together and more of them begin words. mask has the letters of text.
func (p *path) scatter(text []byte, mask uint64) (v, cover int) {
	if mask&^p.own == 0 {
		if v := p.subsequence(text, p.base, scattered, lettersMost); v > 0 {
			return v, len(text)
		}
	}
	if mask&^(p.own|p.mask) != 0 {
		return 0, 0
	}
	return p.subsequence(text, 0, strewn, strewnMost), 0
}

func (p *path) subsequence(text []byte, from, least, most int) int {
	at := from
	for _, c := range text {
		i := bytes.IndexByte(p.text[at:], c)
		if i < 0 {
			return 0
		}
		at += i + 1
	}
	// Search backwards from the end of the first occurrence, for the shortest occurrence that
	// ends there.
	end := at
	boundary := 0
	for i := len(text) - 1; i >= 0; i-- {
		at = bytes.LastIndexByte(p.text[from:at], text[i]) + from
		if p.starts(at) {
			boundary++
		}
	}
	gaps := end - at - len(text)
	span := most - least
	return least + max(0, span*(len(text)+boundary)/(2*len(text))-8*gaps)
}

// within1 reports whether a and b differ by exactly one letter: replaced, added, removed, or
// swapped with its neighbour.
func within1(a, b []byte) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 {
		return false
	}
	i := splice.Prefix(a, b)
	if len(a) < len(b) {
		return bytes.Equal(a[i:], b[i+1:])
	}
	if i == len(a) {
		return false // equal
	}
	if bytes.Equal(a[i+1:], b[i+1:]) {
		return true
	}
	return i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && bytes.Equal(a[i+2:], b[i+2:])
}

// prefixWithin1 reports whether name begins with text, except for one letter.
func prefixWithin1(text, name []byte) bool {
	i := splice.Prefix(text, name)
	if i >= len(name) || i >= len(text) {
		return false
	}
	t, n := text[i:], name[i:]
	return bytes.HasPrefix(n[1:], t[1:]) || bytes.HasPrefix(n, t[1:]) || bytes.HasPrefix(n[1:], t) ||
		len(t) > 1 && len(n) > 1 && t[0] == n[1] && t[1] == n[0] && bytes.HasPrefix(n[2:], t[2:])
}
