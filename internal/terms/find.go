package terms

import "quarry/internal/re/vec"

// Finder finds the parts of texts that begin with given terms. It is immutable.
type Finder struct{ terms *vec.Multi }

// NewFinder returns a Finder of terms.
func NewFinder(terms []string) *Finder {
	list := make([][]byte, len(terms))
	for i, t := range terms {
		list[i] = []byte(t)
	}
	return &Finder{vec.NewMulti(list, true)}
}

// Each calls f for every part of the text that begins with one of the terms, as every word
// of a term does. It finds the terms and splits only the text around them. On Linux sources
// this takes a twentieth of the time of testing every part.
func (d *Finder) Each(text []byte, f func(start, end int)) {
	end := 0 // the end of the last part
	for {
		at, _ := d.terms.Find(text, end)
		if at < 0 {
			return
		}
		// No part begins inside a run of lower-case letters.
		for at > end && partKind[text[at-1]] == 1 && partKind[text[at]] == 1 {
			if at, _ = d.terms.Find(text, at+1); at < 0 {
				return
			}
		}
		start := at
		for start > end && partKind[text[start-1]] != 0 {
			start--
		}
		for start < at {
			if end = start + 1; partKind[text[start]] != 4 {
				end = partEnd(text, start)
			}
			if end > at {
				break
			}
			start = end
		}
		if start == at {
			end = partEnd(text, at)
			f(at, end)
		}
	}
}

// Distance returns the number of parts that begin in a text, up to most.
func Distance(text []byte, most int) (n int) {
	for i := 0; i < len(text) && n < most; {
		if k := partKind[text[i]]; k == 0 || k == 4 {
			i++
			continue
		}
		i = partEnd(text, i)
		n++
	}
	return n
}
