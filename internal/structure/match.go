package structure

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"quarry/internal/symbols"
)

// Match is an occurrence of a pattern. Offsets are in bytes.
type Match struct {
	Start, End int
	Holes      []Hole // in the order of Pattern.Names; a repeated name once
	// Doubt says why tokens can't tell whether this is a match; "" if they can.
	Doubt Doubt
}

// Hole is the text that a hole of the pattern matched.
type Hole struct {
	Name       string
	Start, End int
}

// Doubt is a reason why a match is uncertain.
type Doubt string

const (
	// Readings: the same code can be read in several ways, with different contents of
	// the holes.
	Readings Doubt = "several readings"
	// Generic: < and > may be type arguments or comparisons.
	Generic Doubt = "type arguments or comparison"
	// Declares: a * b may be a product or a declaration.
	Declares Doubt = "product or declaration"
	// Macro: A(b) on its own line may be a statement without ;, or begin the next
	// statement.
	Macro Doubt = "a macro that may be a statement"
)

// Text is a text to match patterns against. It is not safe for concurrent use.
type Text struct {
	*source
}

// NewText tokenizes a text; the path determines its language. It returns nil for texts over 16
// MB, or if stop returns true.
func NewText(stop func() bool, path string, text []byte) *Text {
	code := symbols.Lex(stop, path, text)
	if code == nil {
		return nil
	}
	s := newSource(code, text, false)
	s.stop = stop
	return &Text{s}
}

// Find lists the matches of a pattern in the order of their starts, outer ones before
// inner ones. A pattern that is invalid in the text's language matches nothing. complete is
// false if the text took too many steps.
func (p *Pattern) Find(t *Text) (found []Match, complete bool) {
	c, err := p.in(t.language)
	if err != nil {
		return nil, true
	}
	m := &matching{compiled: c, source: t.source, held: make([]piece, len(p.names))}
	if c.comment != nil {
		for _, at := range t.comments {
			clear(m.held)
			if m.equal(c.comment, at[0], at[1]) {
				m.out = append(m.out, m.result(at[0], at[1]))
			}
		}
		return m.out, true
	}
	for i := range t.toks {
		m.from(i)
		if t.steps < 0 {
			return m.out, false
		}
	}
	return m.sorted(), true
}

// piece is the content of a hole: tokens, or bytes of a string.
type piece struct {
	held       bool
	from, to   int // tokens
	start, end int // byte offsets, if it is part of a string
	bytes      bool
}

// matching matches one pattern against one text.
type matching struct {
	*compiled
	*source
	start int
	held  []piece
	out   []Match
	found int // readings from the current start
}

// maxReadings limits the readings of the matches that begin at one token.
const maxReadings = 64

// from finds the matches that begin at token i.
func (m *matching) from(i int) {
	t := &m.source.toks[i]
	first := &m.elems[0]
	switch {
	case t.virtual || t.kind == closing && first.kind != closing, t.kind == separator && first.kind != separator:
		return
	case first.hole == nil && !m.literal(first, i):
		return
	case !m.beginsAt(i):
		return
	}
	m.start, m.found = i, 0
	clear(m.held)
	m.rest(0, i)
}

// literal reports whether element e, except for its holes, matches token i.
func (m *matching) literal(e *elem, i int) bool {
	if e == nil || i >= len(m.source.toks) {
		return e == nil
	}
	if e.hole != nil {
		return true
	}
	t := &m.source.toks[i]
	switch {
	case e.kind != t.kind:
		return false
	case e.kind == separator:
		return true
	case e.virtual || t.virtual:
		return e.virtual == t.virtual
	case e.inside != nil:
		return e.inside.Match(m.source.text[t.start:t.end])
	}
	if e.joined && !m.source.joined(i) || int(t.end-t.start) != len(e.text) || string(m.source.text[t.start:t.end]) != e.text {
		return false
	}
	return e.text != "<" || e.kind != op || !m.generics || (m.generic(i) > 0) == e.generic || e.generic && m.angle(i) > 0
}

// equal matches a string or comment against bytes of the text, and records the contents
// of its holes.
func (m *matching) equal(e *elem, start, end int) bool {
	if e.inside == nil {
		return spaced(e.text) == spaced(string(m.source.text[start:end]))
	}
	at := e.inside.FindSubmatchIndex(m.source.text[start:end])
	if at == nil {
		return false
	}
	for g, name := range e.insides {
		if name < 0 {
			continue
		}
		p := piece{held: true, bytes: true, start: start + at[2*g+2], end: start + at[2*g+3]}
		if old := &m.held[name]; old.held && !m.same(old, &p) {
			return false
		}
		m.held[name] = p
	}
	return true
}

func spaced(s string) string { return strings.Join(strings.Fields(s), " ") }

// rest matches the elements from e on against the tokens from i on. It returns false to end
// the search from this start.
func (m *matching) rest(e, i int) bool {
	if !m.step() {
		return false
	}
	if e == len(m.elems) {
		return m.accept(i)
	}
	el := &m.elems[e]
	if el.hole == nil {
		return m.restLiteral(e, i)
	}
	var next *elem
	if e+1 < len(m.elems) {
		next = &m.elems[e+1]
	}
	hold := func(end int) bool {
		if el.name < 0 {
			return m.rest(e+1, end)
		}
		old := m.held[el.name]
		p := piece{held: true, from: i, to: end}
		if old.held && !m.same(&old, &p) {
			return true
		}
		m.held[el.name] = p
		more := m.rest(e+1, end)
		m.held[el.name] = old
		return more
	}
	more := true
	if el.hole.many {
		m.many(e, next, i, func(end int) bool { more = hold(end); return more })
	} else {
		m.one(e, i, func(end int) bool {
			if end > i {
				more = hold(end)
			}
			return more
		})
	}
	return more
}

// restLiteral is rest for an element that is not a hole.
func (m *matching) restLiteral(e, i int) bool {
	el := &m.elems[e]
	if m.literal(el, i) && i < len(m.source.toks) {
		if el.inside != nil {
			old := slices.Clone(m.held)
			t := &m.source.toks[i]
			if !m.equal(el, int(t.start), int(t.end)) {
				copy(m.held, old)
				return true
			}
			more := m.rest(e+1, i+1)
			copy(m.held, old)
			return more
		}
		if !m.rest(e+1, i+1) {
			return false
		}
	}
	if m.weak(e, i) {
		return m.rest(e, i+1)
	}
	if m.optional(e, i) {
		return m.without(e+1, i, e+2)
	}
	return true
}

// without leaves the hole of element e empty and continues at element next.
func (m *matching) without(e, i, next int) bool {
	n := m.elems[e].name
	if n < 0 {
		return m.rest(next, i)
	}
	old := m.held[n]
	if old.held && old.from != old.to {
		return true
	}
	m.held[n] = piece{held: true, from: i, to: i}
	more := m.rest(next, i)
	m.held[n] = old
	return more
}

// many visits the possible ends of a $$ hole, element e, whose content begins at token i.
func (m *matching) many(e int, next *elem, i int, visit func(end int) bool) {
	s := m.source
	if next == nil { // to the end of the statement
		k := i
		for k < len(s.toks) && s.kindAt(k) != closing && s.kindAt(k) != separator && !(k > i && s.toks[k-1].virtual) {
			s.step()
			k = s.next(k)
		}
		visit(k)
		return
	}
	if e > 0 && m.elems[e-1].kind == opening && next.kind == closing { // the whole content of the brackets
		if o := i - 1; o >= 0 && s.kindAt(o) == opening {
			visit(int(s.toks[o].mate))
			return
		}
	}
	listed := e > 0 && m.elems[e-1].hole == nil && m.elems[e-1].text == "," || next.hole == nil && next.kind == op && next.text == ","
	for k := i; k <= len(s.toks); {
		fits := k < len(s.toks) && m.literal(next, k)
		if fits && listed && k > i && !s.is(k, ",") && s.kindAt(k) != closing {
			fits = s.is(k-1, ",")
		}
		if fits && !visit(k) {
			return
		}
		// If the hole is empty, the separator after it may be missing too.
		if k == i && next.hole == nil && (next.kind == separator || next.text == ",") && !fits {
			if !m.without(e, i, e+2) {
				return
			}
		}
		if k >= len(s.toks) || s.kindAt(k) == closing {
			return
		}
		if !s.step() {
			return
		}
		k = s.next(k)
	}
}

// same reports whether two pieces have the same tokens.
func (m *matching) same(a, b *piece) bool {
	s := m.source
	if a.bytes || b.bytes {
		as, ae := m.bytes(a)
		bs, be := m.bytes(b)
		return bytes.Equal(s.text[as:ae], s.text[bs:be])
	}
	if a.to-a.from != b.to-b.from {
		return false
	}
	for k := range a.to - a.from {
		if !s.step() {
			return false
		}
		x, y := &s.toks[a.from+k], &s.toks[b.from+k]
		if x.kind != y.kind || !bytes.Equal(s.text[x.start:x.end], s.text[y.start:y.end]) {
			return false
		}
	}
	return true
}

func (m *matching) bytes(p *piece) (start, end int) {
	if p.bytes {
		return p.start, p.end
	}
	return m.span(p.from, p.to)
}

// accept records a match that ends before token e, if it may end there.
func (m *matching) accept(e int) bool {
	if e <= m.start || !m.endsAt(e) {
		return true
	}
	start, end := m.span(m.start, e)
	r := m.result(start, end)
	r.Doubt = m.doubt(m.start, e)
	if !slices.ContainsFunc(m.out[max(0, len(m.out)-m.found):], func(o Match) bool { return o.Start == r.Start && o.End == r.End && slices.Equal(o.Holes, r.Holes) }) {
		m.out = append(m.out, r)
		m.found++
	}
	return m.found < maxReadings
}

func (m *matching) result(start, end int) Match {
	r := Match{Start: start, End: end}
	for i, name := range m.names {
		if p := &m.held[i]; p.held {
			s, e := m.bytes(p)
			r.Holes = append(r.Holes, Hole{name, s, e})
		}
	}
	return r
}

// sorted sorts the matches, and marks those that read the same text in several ways.
func (m *matching) sorted() []Match {
	slices.SortStableFunc(m.out, func(a, b Match) int { return cmp.Or(a.Start-b.Start, b.End-a.End) })
	for i := 1; i < len(m.out); i++ {
		if a, b := &m.out[i-1], &m.out[i]; a.Start == b.Start && a.End == b.End {
			a.Doubt, b.Doubt = Readings, Readings
		}
	}
	return m.out
}
