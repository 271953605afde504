// Package symbols finds the definitions in a source text: functions, types, methods,
// constants, headings, with their lines, doc comments and containers.
//
// It lexes (comments, strings, brackets) and reads the tokens with a small reader per
// language family; it never parses whole grammars, and it resolves nothing. It is pure:
// the same text always gives the same symbols. It takes time and memory linear in the
// text on any input, well-formed or not, and never fails: it skips text that it can't
// read.
package symbols

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// Kind is the kind of a symbol.
type Kind uint8

// Kinds of symbols. Languages use different words; a kind is the closest of these.
const (
	Function Kind = iota + 1
	Method
	Class
	Struct
	Interface // and protocols, traits
	Enum
	Type // aliases and other named types
	Module
	Macro
	Const
	Variable
	Field
	Member    // of an enumeration
	Prototype // a function declared here and defined elsewhere
	Impl      // a block of methods for a type defined elsewhere
	Test
	Table // of a database, and its views and indexes
	Heading

	KindEnd // larger than all kinds
)

var kindNames = [...]string{
	Function: "function", Method: "method", Class: "class", Struct: "struct", Interface: "interface",
	Enum: "enum", Type: "type", Module: "module", Macro: "macro", Const: "constant", Variable: "variable",
	Field: "field", Member: "member", Prototype: "prototype", Impl: "impl", Test: "test", Table: "table", Heading: "heading",
}

func (k Kind) String() string {
	if int(k) < len(kindNames) && kindNames[k] != "" {
		return kindNames[k]
	}
	return "unknown"
}

// ParseKind returns the kind with a name, or 0.
func ParseKind(name string) Kind {
	for k, n := range kindNames {
		if n != "" && n == name {
			return Kind(k)
		}
	}
	return 0
}

// Kinds lists the names of all kinds.
func Kinds() []string { return slices.Clone(kindNames[1:]) }

// IsType reports whether a kind names a type or a namespace of members.
func (k Kind) IsType() bool {
	switch k {
	case Class, Struct, Interface, Enum, Type:
		return true
	}
	return false
}

// IsCallable reports whether a kind is a function, method or macro.
func (k Kind) IsCallable() bool { return k == Function || k == Method || k == Macro || k == Prototype }

// Symbol is one definition. Lines count from 1; offsets are bytes.
type Symbol struct {
	Name      string
	Kind      Kind
	Container string // the containing definitions, joined by dots
	Start     int    // offset of the first token
	End       int    // offset after the last
	NameAt    int    // offset of the name
	Line      int    // line of the name
	First     int    // first line, without the doc comment
	Last      int    // last line
	DocLine   int    // first line of the doc comment, or 0
	Level     int    // level of a heading
}

// DocFirst returns the first line, including the doc comment.
func (s *Symbol) DocFirst() int {
	if s.DocLine > 0 {
		return s.DocLine
	}
	return s.First
}

// maxSymbols limits the symbols of one text. Generated register headers have 100,000
// macros, and more are not needed.
const maxSymbols = 1 << 18

// maxName limits the length of a name: longer names are data.
const maxName = 300

// maxText is the size of the largest text that is read; the tokens of a larger one would
// take too much memory.
const maxText = 16 << 20

// Language returns the name of the language in which a file is read; "" for none. Without
// a text only the path decides.
func Language(path string, text []byte) string {
	if l := languageOf(path, text); l != nil {
		return l.name
	}
	return ""
}

// Of returns the symbols of a text in the order of their names. The language
// follows from the path or, for scripts, from the first line. It returns nil
// for languages it doesn't know.
func Of(path string, text []byte) []Symbol {
	list, _ := Until(nil, path, text)
	return list
}

// Until is Of with a function that ends it early by returning true. It reports whether it
// reached the end of the text. It doesn't for a text that takes too many steps, or has more
// than 262,144 symbols.
func Until(stop func() bool, path string, text []byte) (list []Symbol, whole bool) {
	p := readText(stop, path, text)
	return p.out, !p.partial
}

// Read returns the symbols of a text and its comments, as pairs of offsets in order.
// Multi-line strings are comments in languages that document with them. A stop that
// returns true ends it early; nil never does.
func Read(stop func() bool, path string, text []byte) (list []Symbol, comments [][2]int) {
	p := readText(stop, path, text)
	comments = make([][2]int, len(p.comments))
	for i, c := range p.comments {
		comments[i] = [2]int{c.start, c.end}
	}
	if p.lang != nil && (p.lang.name == "Python" || p.lang.name == "Elixir") {
		before := len(comments)
		for _, t := range p.toks {
			if p.isDocString(t) {
				comments = append(comments, [2]int{int(t.start), int(t.end)})
			}
		}
		if len(comments) > before {
			slices.SortFunc(comments, func(a, b [2]int) int { return a[0] - b[0] })
		}
	}
	return p.out, comments
}

// isDocString reports whether a token is a string in triple quotes.
func (p *parser) isDocString(t token) bool {
	s := p.text[t.start:t.end]
	return t.kind == text && len(s) >= 6 && (bytes.HasSuffix(s, []byte(`"""`)) || bytes.HasSuffix(s, []byte(`'''`)))
}

func readText(stop func() bool, path string, text []byte) *parser {
	l := languageOf(path, text)
	if l == nil || len(text) > maxText {
		return &parser{partial: l != nil}
	}
	p := &parser{lang: l, text: text, stop: stop}
	p.read()
	p.finish()
	return p
}

// read finds the symbols, in no order and without lines.
func (p *parser) read() {
	defer func() {
		if r := recover(); r != nil {
			p.partial = true
			if r != any(errSpent) { // our bug: one file must not end a process that indexes a thousand
				p.failed, p.out, p.macros = r, p.out[:0], p.macros[:0]
			}
		}
	}()
	p.budget = budgetOf(len(p.text))
	if p.lang.plain != nil {
		p.lang.plain(p)
		return
	}
	lex(p)
	p.budget = budgetOf(len(p.toks))
	p.lang.parse(p)
}

// order sorts the symbols by the position of their names.
func (p *parser) order() {
	inOrder := func(a, b Symbol) int {
		return cmp.Or(cmp.Compare(a.NameAt, b.NameAt), cmp.Compare(b.End, a.End))
	}
	if !slices.IsSortedFunc(p.out, inOrder) {
		slices.SortStableFunc(p.out, inOrder)
	}
	p.out = slices.CompactFunc(p.out, func(a, b Symbol) bool { return a.NameAt == b.NameAt && a.Name == b.Name })
}

// finish sorts the symbols and gives each its lines and doc comment.
func (p *parser) finish() {
	p.order()
	if len(p.out) == 0 {
		return
	}
	lines := lineIndex(p.text)
	for i := range p.out {
		if i%1024 == 0 && p.stop != nil && p.stop() {
			p.out, p.partial = p.out[:i], true
			return
		}
		s := &p.out[i]
		s.End = max(s.End, s.NameAt+1)
		s.Line = lines.of(s.NameAt)
		s.First = lines.of(s.Start)
		s.Last = max(lines.of(s.End-1), s.Line)
		if s.DocLine == 0 {
			s.DocLine = p.docLine(s.Start, s.First, lines)
		}
		if s.DocLine >= s.First {
			s.DocLine = 0
		}
	}
}

// docLine returns the first line of the comments that end directly above a symbol.
func (p *parser) docLine(start, first int, lines lineTable) int {
	i, _ := slices.BinarySearchFunc(p.comments, start, func(c span, at int) int { return cmp.Compare(c.end, at+1) })
	if p.doc.before == i && p.doc.line == first { // several symbols on one line
		return p.doc.first
	}
	p.doc.before, p.doc.line = i, first
	doc := 0
	defer func() { p.doc.first = doc }()
	for i--; i >= 0; i-- {
		c := p.comments[i]
		from, to := lines.of(c.start), lines.of(max(c.end-1, c.start))
		if to < first-1 || from == first || !p.aloneInLine(c.start) {
			break
		}
		doc, first = from, from
	}
	return doc
}

func (p *parser) aloneInLine(at int) bool {
	for at--; at >= 0; at-- {
		switch p.text[at] {
		case '\n':
			return true
		case ' ', '\t', '\r':
		default:
			return false
		}
	}
	return true
}

// lineTable holds the offsets where lines start.
type lineTable []int

func lineIndex(text []byte) lineTable {
	t := lineTable{0}
	for i, c := range text {
		if c == '\n' {
			t = append(t, i+1)
		}
	}
	return t
}

// of returns the number of the line, from 1, that contains an offset.
func (t lineTable) of(at int) int {
	i, found := slices.BinarySearch(t, at)
	if found {
		return i + 1
	}
	return i
}

// Qualified returns the name with its container.
func (s *Symbol) Qualified() string {
	if s.Container == "" {
		return s.Name
	}
	return s.Container + "." + s.Name
}

// Signature returns the first line of a definition as written, cut where its body begins
// and at 160 bytes.
func (s *Symbol) Signature(text []byte) string {
	// Copy only the part to be shown, because many definitions may each extend to the end of
	// the text.
	const most = 4 << 10
	start := s.Start
	if s.NameAt > start { // decorators come first
		near := max(start, s.NameAt-most)
		if i := bytes.LastIndexByte(text[near:s.NameAt], '\n'); i >= 0 {
			start = near + i + 1
		}
	}
	line := text[start:min(s.End, len(text), max(start, s.NameAt)+most)]
	if i := bytes.IndexByte(line, '\n'); i >= 0 {
		line = line[:i]
	}
	str := strings.TrimRight(strings.TrimSpace(string(line)), " {")
	if len(str) > 160 {
		str = strings.ToValidUTF8(str[:157], "") + "..."
	}
	return str
}
