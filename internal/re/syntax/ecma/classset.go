package ecma

import (
	"maps"
	"strings"
	"unicode/utf8"

	"quarry/internal/re/hir"
	"quarry/internal/re/syntax"
)

type setOp uint8

const (
	opNone setOp = iota
	opUnion
	opIntersect
	opSubtract
)

// classSet parses a class of the v flag, including its brackets.
func (p *parser) classSet() operand {
	start := p.pos
	p.pos++
	none := operand{set: noChars}
	if !p.enter(start) {
		return none
	}
	defer func() { p.depth-- }()
	negate := p.accept("^")
	acc := union{strings: map[string]bool{}}
	op := opNone
	for count := 0; !p.accept("]"); count++ {
		if p.done() {
			p.unterminatedClass(start)
			return none
		}
		next := opUnion
		if count > 0 {
			next = p.setOperator()
			if op != opNone && next != op {
				p.invalidSetOp()
				return none
			}
			op = next
		}
		v, isRange := p.setOperand(next == opUnion)
		if isRange {
			op = opUnion // a range can't be an operand of && or --
		}
		p.take(syntax.NodeBytes + syntax.RangeBytes*len(v.set.Ranges))
		if next != opUnion {
			p.take(len(acc.ranges)) // faster than collecting a set, because it doesn't sort
		}
		acc.apply(v, next)
	}
	v := acc.operand()
	if !negate || p.err != nil {
		return v
	}
	if v.may {
		p.fail(start, 2, "Negated character class may contain strings", `Take \q{…} and properties of strings out of it.`)
		return none
	}
	return operand{set: v.set.Negate()}
}

// union collects operands. The ranges become a set only when one is needed, so that a class of
// many members doesn't take quadratic time.
type union struct {
	ranges  []hir.Range
	strings map[string]bool
	may     bool
}

func (u *union) apply(v operand, op setOp) {
	switch op {
	case opUnion:
		u.ranges = append(u.ranges, v.set.Ranges...)
		u.may = u.may || v.may
		for s := range v.strings {
			u.strings[s] = true
		}
	case opIntersect:
		u.ranges = hir.NewClass(u.ranges...).Intersect(v.set).Ranges
		u.may = u.may && v.may
		maps.DeleteFunc(u.strings, func(s string, _ bool) bool { return !v.strings[s] })
	case opSubtract:
		u.ranges = hir.NewClass(u.ranges...).Difference(v.set).Ranges
		maps.DeleteFunc(u.strings, func(s string, _ bool) bool { return v.strings[s] })
	}
}

func (u *union) operand() operand {
	return operand{hir.NewClass(u.ranges...), u.strings, u.may}
}

// setOperator parses && or --, if one follows.
func (p *parser) setOperator() setOp {
	switch {
	case p.has("&&"):
		p.pos += 2
		if p.at(0) == '&' {
			p.fail(p.pos, 1, "Invalid character in character class", `Write \& for a literal one.`)
		}
		return opIntersect
	case p.accept("--"):
		return opSubtract
	}
	return opUnion
}

func (p *parser) invalidSetOp() {
	p.fail(p.pos, 0, "Invalid set operation in character class", "Put the parts of && and -- in brackets of their own: [[a-z]--[aeiou]].")
}

// setOperand parses a nested class, an escape, a character or, if ranges are allowed, a
// range.
func (p *parser) setOperand(ranges bool) (v operand, isRange bool) {
	none := operand{set: noChars}
	start := p.pos
	if p.err != nil || p.done() {
		return none, false
	}
	if v, ok := p.setClass(); ok {
		if p.at(0) == '-' && p.at(1) != '-' {
			p.invalidRange(start)
		}
		return v, false
	}
	lo, ok := p.setChar()
	if !ok {
		return none, false
	}
	if !ranges || p.at(0) != '-' || p.at(1) == '-' {
		return p.leaf(hir.NewClass(hir.Range{Lo: lo, Hi: lo})), false
	}
	p.pos++
	if _, class := p.setClass(); class {
		p.invalidRange(start)
	}
	if p.done() {
		return none, false // the class isn't closed, which the caller reports
	}
	hi, ok := p.setChar()
	if !ok {
		return none, false
	}
	if lo > hi {
		p.outOfOrder(start)
		return none, false
	}
	return p.leaf(hir.NewClass(hir.Range{Lo: lo, Hi: hi})), true
}

// setClass parses an operand other than a character, if one follows.
func (p *parser) setClass() (operand, bool) {
	start := p.pos
	switch {
	case p.at(0) == '[':
		return p.classSet(), true
	case p.accept(`\q{`):
		return p.classStrings(start), true
	case p.at(0) == '\\' && p.pos+1 < len(p.src):
		p.pos++
		if v, ok := p.classEscape(start, true); ok {
			return v, true
		}
		p.pos = start
	}
	return operand{}, false
}

func (p *parser) invalidRange(start int) {
	p.fail(start, p.pos-start, "Invalid character class", `Only characters can be the ends of a range; write \- for a hyphen.`)
}

// setChar parses one character of a class with the v flag, in which all syntax characters,
// also ones reserved for the future, must be escaped.
func (p *parser) setChar() (rune, bool) {
	start := p.pos
	c := p.at(0)
	switch {
	case c == '\\':
		p.pos++
		if p.done() {
			p.fail(start, 1, `\ at end of pattern`, `Write \\ for a literal backslash.`)
			return 0, false
		}
		if p.accept("b") {
			return '\b', true
		}
		r := p.charEscape(start, true)
		return r, p.err == nil
	case c == p.at(1) && strings.IndexByte("&!#$%*+,.:;<=>?@^`~", c) >= 0:
		p.fail(start, 2, "Invalid set operation in character class", `Write \`+string(c)+` for a literal one.`)
		return 0, false
	case strings.IndexByte("()[]{}/-|", c) >= 0:
		p.fail(start, 1, "Invalid character in character class", `Write \`+string(c)+` for a literal one.`)
		return 0, false
	}
	return p.rune(), true
}

// classStrings parses the rest of \q{abc|d|…}. Strings of one character are ordinary members.
func (p *parser) classStrings(start int) operand {
	all := union{strings: map[string]bool{}}
	var s []rune
	flush := func() {
		if len(s) == 1 {
			all.ranges = append(all.ranges, p.leaf(hir.NewClass(hir.Range{Lo: s[0], Hi: s[0]})).set.Ranges...)
		} else {
			all.may = true
			if text, ok := p.canonical(s); ok {
				all.strings[text] = true
			}
		}
		s = s[:0]
	}
	for {
		switch {
		case p.err != nil:
			return operand{set: noChars}
		case p.done():
			p.fail(start, 3, "Invalid escape", `Close \q{…} with a brace.`)
		case p.accept("}"):
			flush()
			return all.operand()
		case p.accept("|"):
			flush()
		default:
			if r, ok := p.setChar(); ok {
				s = append(s, r)
			}
		}
	}
}

// canonical returns the folded form of a string in a class. ok is false if s contains a lone
// surrogate, which occurs in no text.
func (p *parser) canonical(s []rune) (text string, ok bool) {
	var b strings.Builder
	for _, r := range s {
		if !utf8.ValidRune(r) {
			return "", false
		}
		b.WriteRune(p.flags.fold().Canonical(r))
	}
	return b.String(), true
}
