package rust

import (
	"strings"
	"unicode/utf8"

	"quarry/internal/re/hir"
	"quarry/internal/re/syntax"
)

// bracket is a [class] being parsed, possibly nested.
type bracket struct {
	outer   *bracket
	open    int // offset of the [
	negated bool
	op      string // "" or the operator before the current operand
	left    *hir.Class
	nested  int // depth of left

	// The current operand: a union of items.
	ranges []hir.Range
	sorted int                 // length of ranges when last sorted
	seen   map[*hir.Class]bool // classes already in ranges
	only   *hir.Class          // the first class; the whole operand if count is 1
	count  int
	depth  int
}

// add adds one item to the union.
func (b *bracket) add(lo, hi rune) {
	b.ranges = append(b.ranges, hir.Range{Lo: lo, Hi: hi})
	b.count++
}

// addClass adds a class to the union. Repeated classes are added once.
func (b *bracket) addClass(c *hir.Class, depth int) {
	b.count++
	b.depth = max(b.depth, depth)
	if b.seen[c] {
		return
	}
	if b.seen == nil {
		b.seen, b.only = map[*hir.Class]bool{}, c
	}
	b.seen[c] = true
	b.ranges = append(b.ranges, c.Ranges...)
	if len(b.ranges) > 2*b.sorted+4096 {
		b.ranges = hir.NewClass(b.ranges...).Ranges
		b.sorted = len(b.ranges)
	}
}

// bracketClass parses a whole [class] and adds it.
func (p *parser) bracketClass() error {
	start := p.pos
	var b *bracket
	open := 0
	for {
		p.skipSpace()
		if p.eof() {
			return p.unclosedClass(b.open)
		}
		switch c := p.char(); {
		case c == '[':
			if b != nil {
				if class := p.asciiClassItem(); class != nil {
					if err := p.checkClass(b.open, class); err != nil {
						return err
					}
					b.addClass(class, 0)
					continue
				}
			}
			if open++; open > p.flags.NestLimit {
				return p.failNest(p.pos)
			}
			inner, err := p.openBracket(b)
			if err != nil {
				return err
			}
			b = inner
		case c == ']':
			class, depth, err := p.closeBracket(b)
			if err != nil {
				return err
			}
			if b.outer == nil {
				p.frame.push(hir.OneOf(class), measure{depth: depth, size: 1})
				return p.check(start, p.frame.prev)
			}
			b = b.outer
			open--
			b.addClass(class, depth)
		case p.atSetOperator(c):
			if err := p.setOperator(b, string([]rune{c, c})); err != nil {
				return err
			}
		default:
			if err := p.bracketItem(b); err != nil {
				return err
			}
		}
	}
}

func (p *parser) unclosedClass(open int) error {
	return p.fail(open, open+1, "unclosed character class", `Close it with "]", or write \[ to match a bracket.`)
}

// atSetOperator reports whether && or -- or ~~ is at pos.
func (p *parser) atSetOperator(c rune) bool {
	return (c == '&' || c == '-' || c == '~') && p.peek(false) == c
}

// openBracket parses [ or [^ and the characters that are literal only there: leading dashes,
// and a leading ].
func (p *parser) openBracket(outer *bracket) (*bracket, error) {
	b := &bracket{outer: outer, open: p.pos}
	if !p.bumpSpace() {
		return nil, p.unclosedClass(b.open)
	}
	if p.char() == '^' {
		b.negated = true
		if !p.bumpSpace() {
			return nil, p.unclosedClass(b.open)
		}
	}
	for p.char() == '-' {
		b.add('-', '-')
		if !p.bumpSpace() {
			return nil, p.unclosedClass(b.open)
		}
	}
	if b.count == 0 && p.char() == ']' {
		b.add(']', ']')
		if !p.bumpSpace() {
			return nil, p.fail(b.open, b.open+1, "unclosed character class", `A "]" in the first place is matched; add another to close the class.`)
		}
	}
	return b, nil
}

// closeBracket parses ] and returns the class and its nesting depth.
func (p *parser) closeBracket(b *bracket) (*hir.Class, int, error) {
	p.bump()
	class, depth, err := p.operand(b)
	if err != nil {
		return nil, 0, err
	}
	if p.flags.CaseInsensitive {
		class = class.Fold()
	}
	if b.negated {
		class = class.Negate()
	}
	return class, depth + 1, p.checkClass(b.open, class)
}

// checkClass refuses a class with non-ASCII bytes if text must be matched as UTF-8.
func (p *parser) checkClass(open int, c *hir.Class) error {
	if p.flags.UTF8 && c.Bytes && !c.IsASCII() {
		return p.failNotUTF8(open, p.pos)
	}
	return nil
}

// operand ends the current union, applies the preceding operator, and returns the class and
// its nesting depth.
func (p *parser) operand(b *bracket) (*hir.Class, int, error) {
	class, depth := b.only, b.depth
	if b.count != 1 || class == nil {
		if !p.flags.Budget.Take(syntax.RangeBytes * len(b.ranges)) {
			return nil, 0, p.fail(b.open, p.pos, "the character classes are too large", "Use fewer classes such as \\w and \\p{…} inside brackets.")
		}
		if p.flags.NoUnicode {
			class = hir.NewByteClass(b.ranges...)
		} else {
			class = hir.NewClass(b.ranges...)
		}
	}
	if b.count > 1 {
		depth++
	}
	b.ranges, b.sorted, b.seen, b.only, b.count, b.depth = nil, 0, nil, nil, 0, 0
	if b.op == "" {
		return class, depth, nil
	}
	left := b.left
	if p.flags.CaseInsensitive {
		left, class = left.Fold(), class.Fold()
	}
	depth = max(b.nested, depth) + 1
	switch b.op {
	case "&&":
		return left.Intersect(class), depth, nil
	case "--":
		return left.Difference(class), depth, nil
	}
	return left.SymmetricDifference(class), depth, nil
}

// setOperator parses an operator, whose left side is the preceding operand. All three
// operators have the same precedence and are left-associative.
func (p *parser) setOperator(b *bracket, op string) error {
	class, depth, err := p.operand(b)
	if err != nil {
		return err
	}
	p.bumpIf(op)
	b.op, b.left, b.nested = op, class, depth
	if depth > p.flags.NestLimit {
		return p.failNest(b.open)
	}
	return nil
}

// bracketItem parses a character, a range or an escaped class.
func (p *parser) bracketItem(b *bracket) error {
	from, err := p.bracketAtom()
	if err != nil {
		return err
	}
	p.skipSpace()
	if p.eof() {
		return p.unclosedClass(b.open)
	}
	if p.char() != '-' || p.peek(true) == ']' || p.peek(true) == '-' {
		return p.addAtom(b, from)
	}
	if !p.bumpSpace() {
		return p.unclosedClass(b.open)
	}
	to, err := p.bracketAtom()
	if err != nil {
		return err
	}
	for _, a := range []atom{from, to} {
		if a.kind != atomScalar {
			return p.fail(a.start, a.end, "only a character can bound a range", `Write \- to match a dash.`)
		}
	}
	if from.r > to.r {
		return p.fail(from.start, to.end, "reversed character range", `Put the smaller character first, or write \- to match a dash.`)
	}
	lo, err := p.bracketChar(from)
	if err != nil {
		return err
	}
	hi, err := p.bracketChar(to)
	if err != nil {
		return err
	}
	b.add(lo, hi)
	return nil
}

// bracketAtom parses one escape or plain character.
func (p *parser) bracketAtom() (atom, error) {
	if p.char() == '\\' {
		return p.escape()
	}
	a := atom{r: p.char(), start: p.pos}
	p.bump()
	a.end = p.pos
	return a, nil
}

func (p *parser) addAtom(b *bracket, a atom) error {
	switch a.kind {
	case atomLook:
		return p.fail(a.start, a.end, "an assertion isn't allowed in a character class", "Put it outside the brackets.")
	case atomClass:
		b.addClass(a.class, 0)
		return nil
	}
	r, err := p.bracketChar(a)
	if err != nil {
		return err
	}
	b.add(r, r)
	return nil
}

// bracketChar returns the value of a character in a class. If the flag u is off, it is a
// byte.
func (p *parser) bracketChar(a atom) (rune, error) {
	b, isByte, err := p.byteOf(a)
	switch {
	case err != nil:
		return 0, err
	case isByte:
		return rune(b), nil
	case p.flags.NoUnicode && a.r >= utf8.RuneSelf:
		return 0, p.fail(a.start, a.end, "a character outside ASCII can't be in a class of bytes", "Leave out (?-u), or write bytes as \\xNN.")
	}
	return a.r, nil
}

// asciiClassItem parses [:name:] or [:^name:]. For anything else it returns nil and consumes
// nothing: [[:foo:]] is a nested class.
func (p *parser) asciiClassItem() *hir.Class {
	rest, ok := strings.CutPrefix(p.pattern[p.pos:], "[:")
	if !ok {
		return nil
	}
	// The longest name has six letters. Searching no further keeps this linear in the pattern's length.
	name, _, ok := strings.Cut(rest[:min(len(rest), len("^xdigit:]"))], ":]")
	if !ok {
		return nil
	}
	bare, negated := strings.CutPrefix(name, "^")
	class := asciiClass(bare, p.flags.NoUnicode)
	if class == nil {
		return nil
	}
	p.pos += len("[:") + len(name) + len(":]")
	if p.flags.CaseInsensitive {
		class = class.Fold()
	}
	if negated {
		class = class.Negate()
	}
	return class
}
