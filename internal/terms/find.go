package terms

import "quarry/internal/re/vec"

// Finder finds the parts of texts that may be words of a few terms. It is immutable.
type Finder struct{ terms *vec.Multi }

// NewFinder returns a Finder of terms.
func NewFinder(terms []string) *Finder {
	list := make([][]byte, len(terms))
	for i, t := range terms {
		list[i] = []byte(t)
	}
	return &Finder{vec.NewMulti(list, true)}
}

// Each calls f with every part of the text that begins with one of the terms, as each of
// its words does. It looks for the terms and takes apart only what is around them: on
// sources of Linux it takes a twentieth of the time that a test of every part does.
func (d *Finder) Each(text []byte, f func(start, end int)) {
	end := 0 // a part ends here, or none goes over it
	for {
		at, _ := d.terms.Find(text, end)
		if at < 0 {
			return
		}
		// Within lower-case letters no part begins.
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

// Distance is how many parts begin in a text, at most most.
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
