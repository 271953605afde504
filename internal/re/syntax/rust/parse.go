// Package rust parses patterns in the syntax of Rust's regex crate, which is also ripgrep's,
// to a tree.
//
// It accepts what regex-syntax 0.8 accepts and rejects what it rejects. It never panics, and
// its time and memory stay in proportion to the pattern's length. Rust builds a syntax tree
// first and applies flags in a second pass. This parser does both at once, because flags apply
// from their position to the end of their group, which is also the order of reading.
package rust

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"quarry/internal/re/hir"
	"quarry/internal/re/syntax"
)

// Flags are the initial settings of a pattern. The zero value is Rust's default, except for
// UTF8.
type Flags struct {
	CaseInsensitive   bool // i
	MultiLine         bool // m: ^ and $ at every line
	DotMatchesNewLine bool // s
	SwapGreed         bool // U: x* is lazy, x*? greedy
	NoUnicode         bool // -u: ASCII classes, and matches of single bytes
	CRLF              bool // R: \r\n ends a line like \n
	IgnoreWhitespace  bool // x: spaces and # comments are ignored

	// LineTerminator is the byte that . doesn't match; nil means \n.
	LineTerminator *byte

	// UTF8 rejects a pattern that could match a part of an encoded character or other bytes
	// that aren't UTF-8. Rust does so for text, ripgrep doesn't.
	UTF8 bool

	// NestLimit limits the nesting of the syntax; 0 means 250.
	NestLimit int

	// SizeLimit limits the size of the pattern with its counted repetitions unrolled, in
	// characters, classes and assertions; 0 means 4 million.
	SizeLimit int

	// Budget, if set, is shared with other patterns.
	Budget *syntax.Budget
}

const (
	defaultNestLimit = 250
	defaultSizeLimit = 4_000_000
	defaultBudget    = 64 << 20
)

// Parse parses a pattern. Its errors are *syntax.Error.
func Parse(pattern string, flags Flags) (*syntax.Parsed, error) {
	p := &parser{pattern: pattern, flags: flags, names: []string{""}}
	if p.flags.NestLimit <= 0 {
		p.flags.NestLimit = defaultNestLimit
	}
	if p.flags.SizeLimit <= 0 {
		p.flags.SizeLimit = defaultSizeLimit
	}
	if p.flags.Budget == nil {
		p.flags.Budget = syntax.NewBudget(defaultBudget, nil)
	}
	p.frame = &frame{open: -1, last: -1}
	if !utf8.ValidString(pattern) {
		return nil, p.errInvalidUTF8()
	}
	root, err := p.parse()
	if err != nil {
		return nil, err
	}
	return &syntax.Parsed{Root: root, Names: p.names}, nil
}

type parser struct {
	pattern string
	pos     int
	flags   Flags // current flags at pos
	frame   *frame
	depth   int // open groups
	names   []string
	byName  map[string]int // offset of the name's first use

	// Nodes and classes are built once and shared: a pattern may contain a class of 700 ranges
	// ten thousand times.
	folded  map[rune]*hir.Node
	classes map[classKey]*hir.Class
	nodes   map[*hir.Class]*hir.Node
	looks   [hir.NumLook]*hir.Node
}

// measure is the size of an expression, which is checked against the limits.
type measure struct {
	depth int   // nesting of Rust's syntax tree
	size  int64 // with repetitions unrolled
}

func (m *measure) add(o measure) {
	m.depth = max(m.depth, o.depth)
	m.size = min(m.size+o.size, math.MaxInt32*2)
}

// frame is a group being parsed, or the whole pattern.
type frame struct {
	outer *frame
	open  int // offset of the parenthesis, -1 for the whole pattern
	cap   int // 0 if it doesn't capture
	name  string
	saved Flags // the flags before the group, restored after it

	alts  []*hir.Node // finished alternatives
	multi bool        // a | occurred
	all   measure     // of alts

	// The current alternative consists of items, then the literal bytes in lit. The last
	// character of lit starts at last; the lastNone and lastItem values apply if lit is empty.
	items []*hir.Node
	lit   []byte
	last  int
	count int     // items as Rust counts them, each character separately
	seq   measure // of the alternative
	prev  measure // of the last item
}

// Values of frame.last if lit is empty.
const (
	lastNone = -1 // nothing, or flags, which can't be repeated
	lastItem = -2 // the last of items
)

// push adds an expression to the alternative.
func (f *frame) push(n *hir.Node, m measure) {
	f.flush()
	f.items = append(f.items, n)
	f.last = lastItem
	f.note(m)
}

// pushLiteral adds one character or byte.
func (f *frame) pushLiteral(b []byte) {
	f.last = len(f.lit)
	f.lit = append(f.lit, b...)
	f.note(measure{size: 1})
}

func (f *frame) note(m measure) {
	f.count++
	f.prev = m
	f.seq.add(m)
}

// flush converts the bytes in lit to an item.
func (f *frame) flush() {
	if len(f.lit) > 0 {
		f.items = append(f.items, hir.Literal(f.lit))
		f.lit = nil
		f.last = lastItem
	}
}

// pop removes and returns the last expression, or returns nil if there is none to repeat.
func (f *frame) pop() *hir.Node {
	switch {
	case f.last == lastNone:
		return nil
	case f.last == lastItem:
		n := f.items[len(f.items)-1]
		f.items = f.items[:len(f.items)-1]
		return n
	}
	char := hir.Literal(append([]byte(nil), f.lit[f.last:]...))
	f.lit = f.lit[:f.last]
	f.flush()
	return char
}

// sequence finishes the current alternative and returns it.
func (f *frame) sequence() (*hir.Node, measure) {
	f.flush()
	n, m := hir.Concat(f.items...), f.seq
	if f.count > 1 {
		m.depth++
	}
	f.items, f.last, f.count, f.seq = nil, lastNone, 0, measure{}
	return n, m
}

// alternate ends an alternative at a |.
func (f *frame) alternate() {
	n, m := f.sequence()
	f.alts = append(f.alts, n)
	f.all.add(m)
	f.multi = true
}

// finish ends the group and returns its expression.
func (f *frame) finish() (*hir.Node, measure) {
	if !f.multi {
		return f.sequence()
	}
	f.alternate()
	f.all.depth++
	return hir.Alt(f.alts...), f.all
}

func (p *parser) parse() (*hir.Node, error) {
	for {
		p.skipSpace()
		if p.eof() {
			break
		}
		c := p.char()
		if !p.flags.Budget.Take(charge(c)) {
			return nil, p.fail(p.pos, p.pos, "the pattern is too large", "Search for fewer or shorter patterns.")
		}
		var err error
		switch c {
		case '(':
			err = p.openGroup()
		case ')':
			err = p.closeGroup()
		case '|':
			p.frame.alternate()
			p.bump()
		case '[':
			err = p.bracketClass()
		case '?', '*', '+':
			err = p.repeat(c)
		case '{':
			err = p.countedRepeat()
		default:
			err = p.primitive()
		}
		if err != nil {
			return nil, err
		}
	}
	if p.frame.outer != nil {
		return nil, p.fail(p.frame.open, p.frame.open+1, "unclosed group",
			`Close it with ")", or write \( to match a parenthesis.`)
	}
	n, m := p.frame.finish()
	if err := p.check(0, m); err != nil {
		return nil, err
	}
	return n, nil
}

// charge returns the memory charged for the part of a pattern that begins with c. A run of
// literal characters shares a node.
func charge(c rune) int {
	if strings.ContainsRune(`\.^$([{|?*+`, c) {
		return syntax.NodeBytes
	}
	return 4
}

// check applies the limits to an expression that starts at from.
func (p *parser) check(from int, m measure) error {
	if m.depth > p.flags.NestLimit {
		return p.failNest(from)
	}
	if m.size > int64(p.flags.SizeLimit) {
		return p.fail(from, p.pos, "pattern is too large with its repetitions written out",
			"Use smaller counts, or an unbounded repetition such as x+.")
	}
	return nil
}

// eof reports whether the pattern is fully parsed.
func (p *parser) eof() bool { return p.pos >= len(p.pattern) }

// char returns the character at pos, which must not be the end.
func (p *parser) char() rune {
	if c := p.pattern[p.pos]; c < utf8.RuneSelf {
		return rune(c)
	}
	r, _ := utf8.DecodeRuneInString(p.pattern[p.pos:])
	return r
}

// bump moves past one character and reports whether there is another.
func (p *parser) bump() bool {
	_, n := utf8.DecodeRuneInString(p.pattern[p.pos:])
	p.pos += n
	return !p.eof()
}

// bumpSpace is bump followed by skipSpace.
func (p *parser) bumpSpace() bool {
	p.bump()
	p.skipSpace()
	return !p.eof()
}

// bumpIf moves past prefix if it is next, and reports whether it was.
func (p *parser) bumpIf(prefix string) bool {
	if len(p.pattern)-p.pos < len(prefix) || p.pattern[p.pos:p.pos+len(prefix)] != prefix {
		return false
	}
	p.pos += len(prefix)
	return true
}

// skipSpace moves past spaces and comments if the flag x is on.
func (p *parser) skipSpace() {
	if !p.flags.IgnoreWhitespace {
		return
	}
	for !p.eof() {
		c := p.char()
		switch {
		case unicode.IsSpace(c):
			p.bump()
		case c == '#':
			for c != '\n' && p.bump() {
				c = p.char()
			}
			if !p.eof() {
				p.bump()
			}
		default:
			return
		}
	}
}

// peek returns the character after the one at pos, or -1 at the end. If space is set, it skips
// ignored spaces.
func (p *parser) peek(space bool) rune {
	at := p.pos
	defer func() { p.pos = at }()
	more := p.bump()
	if space {
		p.skipSpace()
		more = !p.eof()
	}
	if !more {
		return -1
	}
	return p.char()
}
