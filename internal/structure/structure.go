// Package structure finds code by its shape, and rewrites it.
//
// A pattern is code with holes: foo($A, $B), if err != nil { $$BODY }. It is matched
// against the tokens of a text, not against a grammar: brackets must balance, operators
// bind as a small table for the language says, and white space and comments between tokens
// don't matter. $NAME is one balanced piece, $$NAME any number of them; $_ and $$ have no
// name. All occurrences of a name must match the same tokens.
//
// The same pattern on the same text always gives the same matches, in time bounded by
// the length of the text. Where tokens can't decide, the match is marked: see Match.Doubt.
package structure

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"quarry/fault"
	"quarry/internal/symbols"
)

// Pattern is a compiled pattern. It is safe for concurrent use.
type Pattern struct {
	expr  string
	text  string // with names in place of holes
	holes []hole
	names []string // of the named holes
	needs []string

	mu   sync.Mutex
	code map[string]*compiled // by language
}

// hole is a hole as written.
type hole struct {
	name string // "" if unnamed
	many bool
}

// DefaultHole begins a hole.
const DefaultHole = '$'

// mark begins the names that replace holes when a pattern is tokenized.
const mark = "Qhole"

// Error reports an invalid pattern.
type Error struct {
	Expr, Problem, Advice string
}

func (e *Error) Error() string { return fmt.Sprintf("invalid structure %q: %s", e.Expr, e.Problem) }

func (e *Error) Code() fault.Code { return fault.InvalidPattern }

// Is lets errors.Is match the error's code.
func (e *Error) Is(target error) bool { return target == e.Code() }

func (e *Error) Hint() string { return e.Advice }

// Compile compiles a pattern. Its holes begin with sign; 0 means $.
func Compile(expr string, sign rune) (*Pattern, error) {
	sign = cmp.Or(sign, DefaultHole)
	p := &Pattern{expr: expr, code: map[string]*compiled{}}
	if !strings.ContainsRune("$@%&~^?#!", sign) {
		return nil, &Error{expr, fmt.Sprintf("%q can't begin a hole", sign), "use $ or @"}
	}
	var out strings.Builder
	for rest := dedented(expr); rest != ""; {
		h, size := readHole(rest, byte(sign))
		if size == 0 {
			out.WriteByte(rest[0])
			rest = rest[1:]
			continue
		}
		fmt.Fprintf(&out, "%s%dx", mark, len(p.holes))
		p.holes = append(p.holes, h)
		if h.name != "" && !slices.Contains(p.names, h.name) {
			p.names = append(p.names, h.name)
		}
		rest = rest[size:]
	}
	p.text = strings.TrimSpace(out.String())
	if p.text == "" {
		return nil, &Error{expr, "it is empty", "give code with holes: foo($A, $B)"}
	}
	for i, h := range p.holes {
		for _, other := range p.holes[:i] {
			if h.name != "" && other.name == h.name && other.many != h.many {
				return nil, &Error{expr, fmt.Sprintf("%s is one piece in one place and any number in another", h.name), "give the two different names"}
			}
		}
	}
	return p, p.survey()
}

// survey compiles the pattern for every language, and fails if it is invalid in all of them.
// Words that are required in all languages become p.needs and narrow a search.
func (p *Pattern) survey() error {
	var needs map[string]int
	var first error
	good := 0
	for _, l := range append(symbols.Languages(), "") {
		c, err := p.in(l)
		if err != nil {
			first = err
			continue
		}
		if good++; needs == nil {
			needs = map[string]int{}
		}
		for _, w := range c.needs() {
			needs[w]++
		}
	}
	if good == 0 {
		return first
	}
	for w, n := range needs {
		if n == good {
			p.needs = append(p.needs, w)
		}
	}
	slices.SortFunc(p.needs, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	return nil
}

// readHole parses a hole at the start of s: $NAME, $_, $$NAME or $$; $$$ is the same as
// $$. Names are upper case, so that $name stays code.
func readHole(s string, sign byte) (hole, int) {
	n := 0
	for n < len(s) && s[n] == sign && n < 3 {
		n++
	}
	if n == 0 {
		return hole{}, 0
	}
	end := n
	for end < len(s) && (s[end] == '_' || s[end] >= 'A' && s[end] <= 'Z' || end > n && s[end] >= '0' && s[end] <= '9') {
		end++
	}
	if end < len(s) && (s[end] >= 'a' && s[end] <= 'z') {
		return hole{}, 0
	}
	h := hole{name: s[n:end], many: n > 1}
	if h.name == "" && !h.many {
		return hole{}, 0
	}
	if h.name == "_" {
		h.name = ""
	}
	return h, end
}

// dedented removes the indentation that all lines share.
func dedented(s string) string {
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	least := -1
	for _, l := range lines[min(1, len(lines)):] {
		if trimmed := strings.TrimLeft(l, " \t"); trimmed != "" {
			if n := len(l) - len(trimmed); least < 0 || n < least {
				least = n
			}
		}
	}
	first := len(lines[0]) - len(strings.TrimLeft(lines[0], " \t"))
	if lines[0] != "" && strings.TrimSpace(lines[0]) != "" && first < least {
		least = first
	}
	for i, l := range lines {
		if least > 0 && (i > 0 || first >= least) {
			lines[i] = l[min(least, len(l)-len(strings.TrimLeft(l, " \t"))):]
		}
	}
	return strings.Join(lines, "\n")
}

// String returns the pattern as given.
func (p *Pattern) String() string { return p.expr }

// Names lists the names of the holes.
func (p *Pattern) Names() []string { return p.names }

// Needs lists texts that every file with a match contains, the longest first.
func (p *Pattern) Needs() []string { return p.needs }

// in returns the pattern parsed as code of a language.
func (p *Pattern) in(language string) (*compiled, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.code[language]; c != nil {
		return c, c.err
	}
	c := p.compile(language)
	p.code[language] = c
	return c, c.err
}

// elem is a token of a pattern.
type elem struct {
	kind        kind
	virtual     bool
	text        string
	inside      *regexp.Regexp // matches a string with holes
	insides     []int          // indexes in Pattern.names of its groups
	hole        *hole          // nil for a literal
	name        int            // index of the hole's name, or -1
	left, right side
	generic     bool // < of type arguments
	joined      bool // { of Go's T{…}, directly after it
}

// compiled is a pattern in one language.
type compiled struct {
	*Pattern
	lang  *dialect
	err   error
	elems []elem
	level int // how tightly its loosest operator binds
	// keyword: it begins with a keyword; ends: it ends with a body.
	keyword, ends bool
	comment       *elem // the pattern is a comment
}

func (p *Pattern) compile(language string) *compiled {
	c := &compiled{Pattern: p, lang: dialectOf(language)}
	body := []byte(p.text)
	code := symbols.LexAs(language, body)
	if code == nil {
		c.err = &Error{p.expr, "it is too long", "give a shorter one"}
		return c
	}
	for _, t := range code.Tokens {
		if t.Kind == symbols.Punct && bytes.IndexByte([]byte("()[]{}"), body[t.Start]) >= 0 &&
			(t.Partner < 0 || t.Partner >= len(code.Tokens) || code.Tokens[t.Partner].Partner == t.Partner || t.Partner == int(0) && code.Tokens[0].Partner == 0) {
			c.err = &Error{p.expr, fmt.Sprintf("the bracket %c has no partner", body[t.Start]), "give brackets in pairs; to find text as it stands, use a literal search"}
			return c
		}
	}
	if len(code.Tokens) == 0 && len(code.Comments) == 1 {
		e := elem{kind: text, text: string(body), name: -1}
		c.within(&e)
		c.comment = &e
		return c
	}
	s := newSource(code, body, true)
	for len(s.toks) > 0 && s.toks[len(s.toks)-1].kind == separator && s.newlines != ignored {
		s.toks = s.toks[:len(s.toks)-1]
	}
	literals := 0
	for i := range s.toks {
		t := &s.toks[i]
		e := elem{kind: t.kind, virtual: t.virtual, text: s.str(i), name: -1}
		if n, ok := holeNumber(e.text); ok && t.kind == word {
			e.hole = &p.holes[n]
			e.name = slices.Index(p.names, e.hole.name)
		} else {
			literals++
			if t.kind == text {
				c.within(&e)
			}
		}
		e.generic = e.text == "<" && t.kind == op && s.generic(i) > 0
		e.joined = s.language == "Go" && s.opens(i, '{') && s.joined(i) && (s.kindAt(i-1) == word || s.closes(i-1, ']'))
		c.elems = append(c.elems, e)
	}
	if literals == 0 {
		c.err = &Error{p.expr, "it has holes only", "give some code around them: foo($A)"}
		return c
	}
	c.sides(s)
	return c
}

// holeNumber returns the number of the hole that a name replaces.
func holeNumber(s string) (int, bool) {
	var n int
	if !strings.HasPrefix(s, mark) || !strings.HasSuffix(s, "x") {
		return 0, false
	}
	_, err := fmt.Sscanf(s, mark+"%dx", &n)
	return n, err == nil
}

var markedHole = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(mark + `\d+x`)
})

// within compiles a string or comment with holes into a regular expression: there, $A matches
// a word and $$A any text.
func (c *compiled) within(e *elem) {
	at := markedHole().FindAllStringIndex(e.text, -1)
	if at == nil {
		return
	}
	var expr strings.Builder
	expr.WriteString(`(?s)^`)
	from := 0
	for _, m := range at {
		n, _ := holeNumber(e.text[m[0]:m[1]])
		expr.WriteString(regexp.QuoteMeta(e.text[from:m[0]]))
		if c.holes[n].many {
			expr.WriteString(`(.*?)`)
		} else {
			expr.WriteString(`(\S+?)`)
		}
		e.insides = append(e.insides, slices.Index(c.names, c.holes[n].name))
		from = m[1]
	}
	expr.WriteString(regexp.QuoteMeta(e.text[from:]) + `$`)
	e.inside = regexp.MustCompile(expr.String())
}

// needs lists texts that every match contains.
func (c *compiled) needs() []string {
	var list []string
	add := func(s string) {
		for _, part := range markedHole().Split(s, -1) {
			for w := range strings.FieldsFuncSeq(part, func(r rune) bool { return r < 0x80 && !isWord(byte(r)) }) {
				list = append(list, w)
			}
		}
	}
	if c.comment != nil {
		add(c.comment.text)
	}
	for i := range c.elems {
		if e := &c.elems[i]; e.hole == nil && (e.kind == word || e.kind == number || e.kind == text) {
			add(e.text)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
