// Package splice replaces spans of bytes. It never changes bytes outside the spans.
package splice

import (
	"fmt"
	"slices"
)

// Span is a half-open range of byte offsets.
type Span struct{ Start, End int }

// Len returns the number of bytes in the span.
func (s Span) Len() int { return s.End - s.Start }

// In returns the bytes of text in the span.
func (s Span) In(text []byte) []byte { return text[s.Start:s.End] }

// Splice replaces the bytes of a span.
type Splice struct {
	Span
	New string
}

// Apply returns text with the splices applied. They may be in any order. It is an error
// if they overlap or are out of range.
func Apply(text []byte, splices []Splice) ([]byte, error) {
	sorted := slices.Clone(splices)
	slices.SortStableFunc(sorted, func(a, b Splice) int { return a.Start - b.Start })
	size, at := len(text), 0
	for _, s := range sorted {
		if s.Start < at || s.End < s.Start || s.End > len(text) {
			return nil, fmt.Errorf("splice %d-%d overlaps another or is outside the text of %d bytes", s.Start, s.End, len(text))
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

// Text is a text that consists of parts of a base, in order, and new bytes between them.
// So after any number of splices it can be expressed as splices of the base.
type Text []piece

// piece is the bytes [start, end) of the base or, if fresh is set, the new bytes text.
type piece struct {
	start, end int
	text       []byte
	fresh      bool
}

// Base returns an unchanged base of size bytes.
func Base(size int) Text { return Text{{start: 0, end: size}} }

func (p piece) size() int {
	if p.fresh {
		return len(p.text)
	}
	return p.end - p.start
}

// Apply applies splices, which refer to the present text. They must be in order and not
// overlap.
func (t Text) Apply(splices []Splice) Text {
	out := make(Text, 0, len(t)+2*len(splices))
	add := func(p piece) {
		if p.size() > 0 {
			out = append(out, p)
		}
	}
	at, i, used := 0, 0, 0 // at is the offset in t, at which the piece t[i] was used up to used
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

// Splices returns the splices that turn a base of the given size into the text. They
// replace the gaps between the remaining parts of the base.
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
