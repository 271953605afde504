package structure

import (
	"bytes"
	"regexp"
	"sync"

	"quarry/internal/symbols"
)

type kind uint8

const (
	word kind = iota + 1
	number
	text // a string or another literal
	op
	opening
	closing
	separator // ends a statement: ; or the end of a line
)

// token is a piece of code for matching: operators are whole, and significant ends of
// lines and of indented blocks are tokens too.
type token struct {
	kind       kind
	virtual    bool // empty
	first      bool // first of its line
	weak       bool // a ; before } without meaning
	start, end int32
	mate       int32 // of a bracket
	in         int32 // the enclosing bracket, or -1
}

// source is a tokenized text.
type source struct {
	*dialect
	language string
	text     []byte
	toks     []token
	comments [][2]int
	steps    int // remaining
	nested   int // expressions around the current one
	stop     func() bool
}

// step counts a step, and reports whether more are left. After a stop it returns false.
func (s *source) step() bool {
	if s.steps--; s.steps%4096 == 0 && s.stop != nil && s.stop() {
		s.steps = -1
	}
	return s.steps >= 0
}

// newSource tokenizes code; in a pattern, tokens without meaning are dropped.
func newSource(code *symbols.Code, text []byte, pattern bool) *source {
	s := &source{dialect: dialectOf(code.Language), language: code.Language, text: text, comments: code.Comments}
	b := &builder{source: s, code: code, pattern: pattern, columns: []int{0}}
	s.toks = make([]token, 0, len(code.Tokens)+len(code.Tokens)/8+8)
	for i := 0; i < len(code.Tokens); i = b.add(i) {
	}
	for len(b.columns) > 1 {
		b.dedent()
	}
	s.steps = 4*len(s.toks) + 1<<22 // real code takes two steps per token
	return s
}

// builder builds the tokens of a source.
type builder struct {
	*source
	code    *symbols.Code
	pattern bool
	open    []int32 // brackets around the next token
	columns []int   // of indented blocks
}

// inBlock reports whether the next token is in no brackets other than braces.
func (b *builder) inBlock() bool {
	n := len(b.open)
	return n == 0 || b.toks[b.open[n-1]].virtual || b.is(int(b.open[n-1]), "{")
}

func (b *builder) push(k kind, virtual, first bool, start, end int) {
	t := token{kind: k, virtual: virtual, first: first, start: int32(start), end: int32(end), mate: -1, in: -1}
	if n := len(b.open); n > 0 {
		t.in = b.open[n-1]
	}
	b.toks = append(b.toks, t)
}

// add adds token i, or the operator that begins there, and returns the next.
func (b *builder) add(i int) int {
	t := &b.code.Tokens[i]
	if t.First {
		b.line(i)
	}
	if t.Kind != symbols.Punct {
		k := word
		switch t.Kind {
		case symbols.Number:
			k = number
		case symbols.Text:
			k = text
		}
		if n := b.exponent(i); n > 0 {
			b.push(k, false, t.First, t.Start, b.code.Tokens[i+n].End)
			return i + n + 1
		}
		b.push(k, false, t.First, t.Start, t.End)
		return i + 1
	}
	paired := t.Partner >= 0 && t.Partner < len(b.code.Tokens) && t.Partner != i && b.code.Tokens[t.Partner].Partner == i
	switch c := b.text[t.Start]; {
	case paired && (c == '(' || c == '[' || c == '{'):
		b.push(opening, false, t.First, t.Start, t.End)
		b.open = append(b.open, int32(len(b.toks)-1))
		return i + 1
	case paired && (c == ')' || c == ']' || c == '}'):
		b.close(t)
		return i + 1
	case c == ';':
		if n := len(b.toks); n > 0 && b.toks[n-1].kind == separator && b.toks[n-1].virtual {
			b.toks = b.toks[:n-1]
		}
		b.push(separator, false, t.First, t.Start, t.End)
		return i + 1
	}
	last := i
	for last+1 < len(b.code.Tokens) && last < i+3 && b.code.Tokens[last+1].Kind == symbols.Punct && b.code.Tokens[last+1].Start == b.code.Tokens[last].End {
		last++
	}
	n := munch(b.text[t.Start:b.code.Tokens[last].End], b.dialect)
	b.push(op, false, t.First, t.Start, t.Start+n)
	return i + n
}

// numeral matches a number of several tokens: 1e-9 and 0x1p-9 in its first group, and 1. and
// 1.f, which only languages with casts have, in its second.
var numeral = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:((?:0x[\da-f_]*(?:\.[\da-f_]*)?p|[\d_]+(?:\.[\d_]*)?e)[+-]\d\w*)|((?:0x[\da-f_]+\.[\da-f_]*p\d+|[\d_]+\.(?:e\d+)?)[fld]?)(?:[^\w.]|$))`)
})

// exponent returns how many tokens after i belong to the number at i.
func (b *builder) exponent(i int) (n int) {
	list, t := b.code.Tokens, &b.code.Tokens[i]
	if t.Kind != symbols.Number || i+1 == len(list) || list[i+1].Start != t.End || bytes.IndexByte([]byte(".+-"), b.text[t.End]) < 0 {
		return 0
	}
	m := numeral().FindSubmatchIndex(b.text[t.Start:min(len(b.text), t.End+100)])
	for m != nil && (b.casts || m[2] >= 0) && i+n+1 < len(list) && list[i+n+1].End <= t.Start+max(m[3], m[5]) {
		n++
	}
	return n
}

// close adds a closing bracket and drops tokens without meaning before it.
func (b *builder) close(t *symbols.Token) {
	for len(b.open) > 0 && b.toks[b.open[len(b.open)-1]].virtual {
		b.dedent()
	}
	if len(b.open) == 0 {
		b.push(op, false, t.First, t.Start, t.End)
		return
	}
	o := b.open[len(b.open)-1]
	b.open = b.open[:len(b.open)-1]
	if n := len(b.toks); n > 0 {
		last := &b.toks[n-1]
		switch {
		case last.kind == separator && int32(n-1) > o && (last.virtual || b.newlines != ignored) && b.text[t.Start] == '}':
			if last.weak = true; last.virtual || b.pattern {
				b.toks = b.toks[:n-1]
			}
		case b.is(n-1, ",") && !(b.tuples && b.text[t.Start] == ')' && !b.called(int(o))):
			b.toks = b.toks[:n-1]
		}
	}
	b.push(closing, false, t.First, t.Start, t.End)
	n := int32(len(b.toks) - 1)
	b.toks[n].mate, b.toks[o].mate = o, n
	b.toks[n].in = b.toks[o].in
}

// called reports whether the bracket at o follows an operand.
func (b *builder) called(o int) bool {
	return o > 0 && (b.toks[o-1].kind == word || b.toks[o-1].kind == closing)
}

// line handles the line end before token i. It may end a statement and, in Python, a block.
func (b *builder) line(i int) {
	if len(b.toks) == 0 || b.newlines == ignored {
		return
	}
	if b.newlines == indented {
		b.indentation(i)
		return
	}
	prev := &b.toks[len(b.toks)-1]
	if n := len(b.toks) - 1; b.headerEnd(n) && !b.endsDo(n) {
		return
	}
	if !b.inBlock() || prev.kind == separator || prev.kind == opening || !b.ends(len(b.toks)-1) {
		return
	}
	if b.newlines == loose && b.continues(i, prev) {
		return
	}
	at := b.code.Tokens[i].Start
	b.push(separator, true, false, at, at)
}

// endsDo reports whether token i closes the condition of do … while (…).
func (b *builder) endsDo(i int) bool {
	k := int(b.toks[i].mate) - 1
	return b.is(k, "while") && b.closes(k-1, '}')
}

// ends reports whether a statement may end with token i.
func (b *builder) ends(i int) bool {
	t := &b.toks[i]
	if t.kind != op {
		return !(t.kind == word && b.newlines == loose && (joins[b.str(i)] || b.is(i, "else") || b.prefixes[b.str(i)] || declares[b.str(i)] && b.str(i) != "break" && b.str(i) != "continue" && !(b.is(i, "const") && b.is(i-1, "as"))))
	}
	return b.is(i, "++") || b.is(i, "--") || b.newlines == loose && (b.is(i, "!") || b.is(i, "!!"))
}

// continues reports whether the line that begins with token i continues the previous
// one.
func (b *builder) continues(i int, prev *token) bool {
	t := &b.code.Tokens[i]
	w := string(b.text[t.Start:t.End])
	switch t.Kind {
	case symbols.Word:
		return continuers[w] || joins[w] && prev.kind != closing
	case symbols.Punct:
		switch w {
		case "{":
			return !(prev.kind == closing && b.text[prev.start] == '}')
		case "(", "[":
			return b.dollar && !(prev.kind == closing && b.text[prev.start] == '}')
		case "!", "~", "@", "#", "$", "\\", "_":
			return bytes.HasPrefix(b.text[t.Start:], []byte("!="))
		case "+", "-":
			return !(t.End < len(b.text) && b.text[t.End] == w[0])
		case "*", "<":
			return prev.kind != closing || w == "<"
		}
		return true
	}
	return false
}

func (b *builder) column(at int) int {
	col := 0
	for from := bytes.LastIndexByte(b.text[:at], '\n') + 1; from < at; from++ {
		if b.text[from] == '\t' {
			col += 8 - col%8
		} else {
			col++
		}
	}
	return col
}

// indentation opens and closes the blocks of Python.
func (b *builder) indentation(i int) {
	for _, o := range b.open {
		if !b.toks[o].virtual {
			return
		}
	}
	t := &b.code.Tokens[i]
	col := b.column(t.Start)
	if n := len(b.toks); col > b.columns[len(b.columns)-1] && b.is(n-1, ":") {
		b.columns = append(b.columns, col)
		b.push(opening, true, false, t.Start, t.Start)
		b.open = append(b.open, int32(len(b.toks)-1))
		return
	}
	for len(b.columns) > 1 && col < b.columns[len(b.columns)-1] {
		b.dedent()
	}
	if t.Kind == symbols.Word && continuers[string(b.text[t.Start:t.End])] && b.toks[len(b.toks)-1].virtual {
		return
	}
	if b.toks[len(b.toks)-1].kind != separator {
		b.push(separator, true, false, t.Start, t.Start)
	}
}

func (b *builder) dedent() {
	b.columns = b.columns[:len(b.columns)-1]
	if n := len(b.toks); b.toks[n-1].kind == separator {
		b.toks = b.toks[:n-1]
	}
	at := 0
	if n := len(b.toks); n > 0 {
		at = int(b.toks[n-1].end)
	}
	o := b.open[len(b.open)-1]
	b.open = b.open[:len(b.open)-1]
	b.push(closing, true, false, at, at)
	n := int32(len(b.toks) - 1)
	b.toks[n].mate, b.toks[o].mate = o, n
	b.toks[n].in = b.toks[o].in
}

func (s *source) str(i int) string {
	if i < 0 || i >= len(s.toks) {
		return ""
	}
	return string(s.text[s.toks[i].start:s.toks[i].end])
}

// is reports whether token i is exactly w and not a string.
func (s *source) is(i int, w string) bool {
	if i < 0 || i >= len(s.toks) {
		return false
	}
	t := &s.toks[i]
	return int(t.end-t.start) == len(w) && t.kind != text && string(s.text[t.start:t.end]) == w
}

// kindAt returns the kind of token i, or 0.
func (s *source) kindAt(i int) kind {
	if i < 0 || i >= len(s.toks) {
		return 0
	}
	return s.toks[i].kind
}

// opens reports whether token i is the given opening bracket.
func (s *source) opens(i int, bracket byte) bool {
	return s.kindAt(i) == opening && !s.toks[i].virtual && s.text[s.toks[i].start] == bracket
}

// closes reports whether token i is the given closing bracket.
func (s *source) closes(i int, bracket byte) bool {
	return s.kindAt(i) == closing && !s.toks[i].virtual && s.text[s.toks[i].start] == bracket
}

// next returns the token after i, or after the group that opens there.
func (s *source) next(i int) int {
	if s.toks[i].kind == opening {
		return int(s.toks[i].mate) + 1
	}
	return i + 1
}

// joined reports whether token i directly follows token i-1.
func (s *source) joined(i int) bool {
	return i > 0 && i < len(s.toks) && s.toks[i-1].end == s.toks[i].start
}

// span returns the byte range of the tokens from i to before e, ignoring empty ones.
func (s *source) span(i, e int) (start, end int) {
	for i < e && s.toks[i].virtual {
		i++
	}
	for e > i && s.toks[e-1].virtual {
		e--
	}
	if i >= e {
		if i < len(s.toks) {
			return int(s.toks[i].start), int(s.toks[i].start)
		}
		return len(s.text), len(s.text)
	}
	return int(s.toks[i].start), int(s.toks[e-1].end)
}
