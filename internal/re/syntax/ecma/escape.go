package ecma

import (
	"strings"
	"unicode/utf8"

	"quarry/internal/re/hir"
)

// atomEscape parses a backslash and its escape, outside a class.
func (p *parser) atomEscape() (n *Node, quantifiable bool) {
	start := p.pos
	p.pos++
	if p.done() {
		p.fail(start, 1, `\ at end of pattern`, `Write \\ for a literal backslash.`)
		return &Node{}, false
	}
	switch c := p.at(0); {
	case c == 'b' || c == 'B':
		p.pos++
		return p.wordAssertion(c == 'B'), false
	case '1' <= c && c <= '9':
		return p.decimalEscape(start), true
	case c == 'k' && (p.named || p.flags.strict()):
		p.pos++
		if !p.accept("<") {
			p.fail(start, 2, "Invalid named reference", `A reference to a named group is \k<name>.`)
			return &Node{}, false
		}
		name, ok := p.groupName()
		if !ok {
			p.fail(start, 2, "Invalid named reference", `A reference to a named group is \k<name>.`)
			return &Node{}, false
		}
		return p.reference(start, 0, name), true
	}
	if v, ok := p.classEscape(start, false); ok {
		return p.operandNode(v), true
	}
	return p.char(p.charEscape(start, false)), true
}

func (p *parser) wordAssertion(not bool) *Node {
	a := Word
	if not {
		a = NotWord
	}
	if p.flags.fold() == FoldSimple {
		a += WordFold - Word
	}
	return p.node(Node{Kind: KindAssert, Assert: a})
}

// decimalEscape parses a reference if the group exists. Otherwise Annex B makes it an octal
// escape, or for 8 and 9 the digit itself.
func (p *parser) decimalEscape(start int) *Node {
	num, _ := p.number()
	if num <= p.total {
		return p.reference(start, num, "")
	}
	if p.flags.strict() {
		p.fail(start, p.pos-start, "Invalid escape", "There are fewer groups than this.")
		return &Node{}
	}
	p.pos = start + 1
	if c := p.at(0); c >= '8' {
		p.pos++
		return p.char(rune(c))
	}
	return p.char(p.octal())
}

// octal parses up to three octal digits, at most \377.
func (p *parser) octal() rune {
	v := rune(0)
	for i := 0; i < 3; i++ {
		c := p.at(0)
		if c < '0' || c > '7' || v*8+rune(c-'0') > 0o377 {
			break
		}
		v = v*8 + rune(c-'0')
		p.pos++
	}
	return v
}

// classEscape parses \d, \s, \w and their opposites, and \p{…} where allowed. p.pos is after
// the backslash.
func (p *parser) classEscape(start int, inClass bool) (operand, bool) {
	c := p.at(0)
	switch c {
	case 'd', 'D', 's', 'S', 'w', 'W':
		p.pos++
		set := perlClass(c|0x20, p.flags)
		if c < 'a' {
			set = set.Negate()
		}
		return p.leaf(set), true
	case 'p', 'P':
		if !p.flags.strict() {
			return operand{}, false
		}
		p.pos++
		v, ok := p.property(c == 'P')
		if !ok && p.err == nil {
			reason := "Invalid property name"
			if inClass {
				reason = "Invalid property name in character class"
			}
			p.fail(start, p.pos-start, reason, `As in \p{Lu}, \p{Script=Greek} or \p{Alphabetic}, in Unicode's spelling.`)
		}
		if v.set == nil {
			v.set = noChars
		}
		return v, true
	}
	return operand{}, false
}

func perlClass(c byte, f Flags) *hir.Class {
	switch c {
	case 'd':
		return digits
	case 's':
		return spaces
	}
	if f.fold() == FoldSimple {
		return wordsFold
	}
	return words
}

// charEscape parses an escape for one character. p.pos is after the backslash, and not at the end.
func (p *parser) charEscape(start int, inClass bool) rune {
	strict := p.flags.strict()
	switch c := p.at(0); {
	case strings.IndexByte("fnrtv", c) >= 0:
		p.pos++
		return map[byte]rune{'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v'}[c]
	case c == 'c':
		return p.controlEscape(start, inClass)
	case c == '0' && (p.at(1) < '0' || p.at(1) > '9'):
		p.pos++
		return 0
	case '0' <= c && c <= '7' && !strict:
		return p.octal()
	case '0' <= c && c <= '9' && strict:
		reason := "Invalid decimal escape"
		if inClass && c >= '8' {
			reason = "Invalid escape"
		} else if inClass {
			reason = "Invalid class escape"
		}
		p.fail(start, 2, reason, `Write \x00 to \xff for a character by its number.`)
		return 0
	case c == 'x':
		p.pos++
		if r, ok := p.hex(2); ok {
			return r
		}
		if strict {
			p.fail(start, 2, "Invalid escape", `As in \x7f: two hexadecimal digits.`)
		}
		return 'x'
	case c == 'u':
		p.pos++
		if r, ok := p.unicodeEscape(strict); ok {
			return p.joinSurrogates(r, inClass)
		}
		if strict {
			p.fail(start, 2, "Invalid Unicode escape", `As in \u00e9 or \u{1f600}.`)
		}
		return 'u'
	}
	return p.identityEscape(start, inClass)
}

// controlEscape parses \cA. If no letter follows, Annex B makes the backslash alone a
// literal.
func (p *parser) controlEscape(start int, inClass bool) rune {
	c := p.at(1)
	letter := 'a' <= c|0x20 && c|0x20 <= 'z'
	if letter || inClass && !p.flags.strict() && ('0' <= c && c <= '9' || c == '_') {
		p.pos += 2
		return rune(c & 0x1F)
	}
	if p.flags.strict() {
		p.fail(start, 2, "Invalid Unicode escape", `A control character is \cA to \cZ.`)
	}
	return '\\'
}

func (p *parser) identityEscape(start int, inClass bool) rune {
	r := p.rune()
	if !p.flags.strict() {
		if r == 'k' && p.named {
			p.fail(start, 2, "Invalid escape", "")
		}
		return r
	}
	if r < utf8.RuneSelf {
		c := byte(r)
		switch {
		case strings.IndexByte(`^$\.*+?()[]{}|/`, c) >= 0:
			return r
		case inClass && c == '-':
			return r
		case inClass && p.flags&UnicodeSets != 0 && strings.IndexByte("&!#%,:;<=>@`~", c) >= 0:
			return r
		}
	}
	p.fail(start, p.pos-start, "Invalid escape", "With the flag u or v only characters of the syntax can be escaped; drop the backslash.")
	return r
}

// hex parses exactly n hexadecimal digits, or nothing.
func (p *parser) hex(n int) (r rune, ok bool) {
	if p.pos+n > len(p.src) {
		return 0, false
	}
	for i := range n {
		d := hexDigit(p.src[p.pos+i])
		if d < 0 {
			return 0, false
		}
		r = r<<4 | d
	}
	p.pos += n
	return r, true
}

func hexDigit(c byte) rune {
	switch {
	case '0' <= c && c <= '9':
		return rune(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return rune(c|0x20-'a') + 10
	}
	return -1
}

// unicodeEscape parses the rest of a \u escape: four digits or, if braces is set, digits in
// braces. With braces set (strict syntax, group names), a pair of surrogates is one character.
// On failure it consumes nothing.
func (p *parser) unicodeEscape(braces bool) (rune, bool) {
	start := p.pos
	if braces && p.accept("{") {
		r, digits := rune(0), 0
		for !p.done() && p.at(0) != '}' {
			d := hexDigit(p.at(0))
			if r = r<<4 | d; d < 0 || r > utf8.MaxRune {
				p.pos = start
				return 0, false
			}
			digits++
			p.pos++
		}
		if digits == 0 || !p.accept("}") {
			p.pos = start
			return 0, false
		}
		return r, true
	}
	r, ok := p.hex(4)
	if ok && braces {
		r = p.joinSurrogates(r, false)
	}
	return r, ok
}

// joinSurrogates joins hi, the high surrogate escape just parsed, with a following low
// surrogate escape into one character. JavaScript does so with u or v. Without them it matches
// two adjacent code units, which in our text are this character. In a class without u or v
// they are two members, neither of which ever occurs.
func (p *parser) joinSurrogates(hi rune, inClass bool) rune {
	if hi < 0xD800 || hi > 0xDBFF || !p.has(`\u`) || inClass && !p.flags.strict() {
		return hi
	}
	start := p.pos
	p.pos += 2
	if lo, ok := p.hex(4); ok && 0xDC00 <= lo && lo <= 0xDFFF {
		return (hi-0xD800)<<10 | (lo - 0xDC00) + 0x10000
	}
	p.pos = start
	return hi
}
