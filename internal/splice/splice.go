// Package splice replaces spans of bytes and nothing else: every byte outside the
// spans is the same afterwards, by construction.
package splice

import (
	"fmt"
	"slices"
)

// Span is a half-open range of byte offsets.
type Span struct{ Start, End int }

// Len is the number of bytes in the span.
func (s Span) Len() int { return s.End - s.Start }

// In returns the bytes of text the span covers.
func (s Span) In(text []byte) []byte { return text[s.Start:s.End] }

// Splice replaces the bytes of a span.
type Splice struct {
	Span
	New string
}

// Apply returns text with the splices made. They may come in any order;
// overlapping or out-of-range ones are an error.
func Apply(text []byte, splices []Splice) ([]byte, error) {
	sorted := slices.Clone(splices)
	slices.SortStableFunc(sorted, func(a, b Splice) int { return a.Start - b.Start })
	size, at := len(text), 0
	for _, s := range sorted {
		if s.Start < at || s.End < s.Start || s.End > len(text) {
			return nil, fmt.Errorf("splice %d-%d overlaps another or leaves the text of %d bytes", s.Start, s.End, len(text))
		}
		size += len(s.New) - s.Len()
		at = s.End
	}
	out := make([]byte, 0, size)
	at = 0
	for _, s := range sorted {
		out = append(append(out, text[at:s.Start]...), s.New...)
		at = s.End
	}
	return append(out, text[at:]...), nil
}

// Text is a text as parts of a base and new bytes between them, so that after any
// number of splices the bytes of the base that nobody named are known.
type Text []piece

// piece is the bytes [start, end) of the base, or new ones.
type piece struct {
	start, end int
	text       []byte
	fresh      bool
}

// Base is a base of so many bytes, unchanged.
func Base(size int) Text { return Text{{start: 0, end: size}} }

func (p piece) size() int {
	if p.fresh {
		return len(p.text)
	}
	return p.end - p.start
}

// Apply makes splices of the text as it is now. They come in order and don't
// overlap.
func (t Text) Apply(splices []Splice) Text {
	out := make(Text, 0, len(t)+2*len(splices))
	add := func(p piece) {
		if p.size() > 0 {
			out = append(out, p)
		}
	}
	at, i, used := 0, 0, 0 // how far the text was taken: t[i] up to used
	take := func(until int, keep bool) {
		for at < until && i < len(t) {
			n := min(until-at, t[i].size()-used)
			if keep {
				add(t[i].cut(used, used+n))
			}
			if at, used = at+n, used+n; used == t[i].size() {
				i, used = i+1, 0
			}
		}
	}
	for _, s := range splices {
		take(s.Start, true)
		add(piece{text: []byte(s.New), fresh: true})
		take(s.End, false)
	}
	for ; i < len(t); i, used = i+1, 0 {
		add(t[i].cut(used, t[i].size()))
	}
	return out
}

func (p piece) cut(from, to int) piece {
	if p.fresh {
		return piece{text: p.text[from:to], fresh: true}
	}
	return piece{start: p.start + from, end: p.start + to}
}

// Splices are those that make the text of a base of this size. Parts of the base
// never change places, so gaps between them are what was replaced.
func (t Text) Splices(size int) []Splice {
	var out []Splice
	at := 0
	var text []byte
	gap := func(until int) {
		if until > at || len(text) > 0 {
			out = append(out, Splice{Span{at, until}, string(text)})
		}
		text = nil
	}
	for _, p := range t {
		if p.fresh {
			text = append(text, p.text...)
			continue
		}
		gap(p.start)
		at = p.end
	}
	gap(size)
	return out
}
