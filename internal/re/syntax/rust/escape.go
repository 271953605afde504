package rust

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"quarry/internal/re/hir"
)

// atom is one escape or plain character: a scalar value, a byte, a class or an assertion.
type atom struct {
	kind       atomKind
	r          rune       // scalar and single byte
	fixedHex   bool       // r was written as \xNN, which means a byte if the flag u is off
	class      *hir.Class // folded and negated already
	look       hir.Look
	start, end int
}

type atomKind uint8

const (
	atomScalar atomKind = iota
	atomClass
	atomLook
)

// primitive parses an item that is not an operator, and adds it.
func (p *parser) primitive() error {
	start := p.pos
	switch c := p.char(); c {
	case '\\':
		a, err := p.escape()
		if err != nil {
			return err
		}
		return p.pushAtom(a)
	case '.':
		p.bump()
		dot, err := p.dot(start)
		if err != nil {
			return err
		}
		p.frame.push(p.oneOf(dot), measure{size: 1})
		return nil
	case '^', '$':
		p.bump()
		p.frame.push(p.assert(p.anchor(c == '^')), measure{size: 1})
		return nil
	default:
		p.bump()
		return p.pushAtom(atom{r: c, start: start, end: p.pos})
	}
}

func (p *parser) pushAtom(a atom) error {
	one := measure{size: 1}
	switch a.kind {
	case atomClass:
		p.frame.push(p.oneOf(a.class), one)
	case atomLook:
		p.frame.push(p.assert(a.look), one)
	case atomScalar:
		b, isByte, err := p.byteOf(a)
		if err != nil {
			return err
		}
		if isByte {
			p.frame.pushLiteral([]byte{b})
			return nil
		}
		if n := p.fold(a.r); n != nil {
			p.frame.push(n, one)
			return nil
		}
		p.frame.pushLiteral(utf8.AppendRune(nil, a.r))
	}
	return nil
}

// assert returns the node of an assertion; the same assertion always has the same node.
func (p *parser) assert(l hir.Look) *hir.Node {
	if p.looks[l] == nil {
		p.looks[l] = hir.Assert(l)
	}
	return p.looks[l]
}

// byteOf returns the byte that a character means if it is a byte over 0x7F; ok reports whether it is.
func (p *parser) byteOf(a atom) (b byte, ok bool, err error) {
	if !p.flags.NoUnicode || !a.fixedHex || a.r < utf8.RuneSelf {
		return 0, false, nil
	}
	if p.flags.UTF8 {
		return 0, false, p.failNotUTF8(a.start, a.end)
	}
	return byte(a.r), true, nil
}

func (p *parser) failNotUTF8(from, to int) error {
	return p.fail(from, to, "pattern can match invalid UTF-8", "Leave out (?-u), or search bytes instead of text.")
}

// fold returns the class of r's case variants, or nil if r has none or the flag i is off.
func (p *parser) fold(r rune) *hir.Node {
	if !p.flags.CaseInsensitive {
		return nil
	}
	if p.flags.NoUnicode {
		if lower := r | 0x20; lower < 'a' || lower > 'z' {
			return nil
		}
		return hir.OneOf(hir.NewByteClass(hir.Range{Lo: r, Hi: r}).FoldASCII())
	}
	n, ok := p.folded[r]
	if !ok {
		if c := hir.NewClass(hir.Range{Lo: r, Hi: r}).Fold(); c.Len() > 1 {
			n = hir.OneOf(c)
		}
		if p.folded == nil {
			p.folded = map[rune]*hir.Node{}
		}
		p.folded[r] = n
	}
	return n
}

// dot returns the class of . under the current flags.
func (p *parser) dot(start int) (*hir.Class, error) {
	end := byte('\n')
	if p.flags.LineTerminator != nil {
		end = *p.flags.LineTerminator
	}
	f := p.flags
	if f.UTF8 && (f.NoUnicode || end >= utf8.RuneSelf) {
		return nil, p.failNotUTF8(start, start+1)
	}
	if !f.NoUnicode && !f.DotMatchesNewLine && !f.CRLF && end >= utf8.RuneSelf {
		return nil, p.fail(start, start+1, "the line terminator isn't ASCII", "Use (?-u:.) or (?s:.) with this line terminator.")
	}
	key := fmt.Sprint(".", f.NoUnicode, f.DotMatchesNewLine, f.CRLF)
	return p.cached(classKey{name: key}, func() (*hir.Class, error) {
		all, build := hir.AnyScalar(), hir.NewClass
		if f.NoUnicode {
			all, build = hir.AnyByte(), hir.NewByteClass
		}
		switch {
		case f.DotMatchesNewLine:
			return all, nil
		case f.CRLF:
			return all.Difference(build(hir.Range{Lo: '\r', Hi: '\r'}, hir.Range{Lo: '\n', Hi: '\n'})), nil
		}
		return all.Difference(build(hir.Range{Lo: rune(end), Hi: rune(end)})), nil
	})
}

// anchor returns the assertion of ^ or $ under the current flags.
func (p *parser) anchor(start bool) hir.Look {
	switch {
	case !p.flags.MultiLine && start:
		return hir.LookStart
	case !p.flags.MultiLine:
		return hir.LookEnd
	case p.flags.CRLF && start:
		return hir.LookStartCRLF
	case p.flags.CRLF:
		return hir.LookEndCRLF
	case start:
		return hir.LookStartLine
	}
	return hir.LookEndLine
}

// escape parses an escape; p.pos is at the \.
func (p *parser) escape() (atom, error) {
	start := p.pos
	if !p.bump() {
		return atom{}, p.fail(start, p.pos, "unfinished escape at the end", `Write \\ to match a backslash.`)
	}
	c := p.char()
	switch {
	case '0' <= c && c <= '9':
		p.bump()
		const reason = "backreferences aren't supported in Rust syntax"
		if c == '0' {
			return atom{}, p.fail(start, p.pos, reason, `Write \x00 to match a NUL, \x{…} for any other character by its number.`)
		}
		return atom{}, p.failECMA(start, p.pos, reason, "Use the JavaScript syntax for this pattern.")
	case c == 'x' || c == 'u' || c == 'U':
		return p.hex(start)
	case c == 'p' || c == 'P':
		return p.unicodeClass(start)
	case strings.ContainsRune("dswDSW", c):
		p.bump()
		return p.perlClass(start, c)
	}
	p.bump()
	if literalEscape(c) {
		return atom{r: c, start: start, end: p.pos}, nil
	}
	if i := strings.IndexRune("aftnrv", c); i >= 0 {
		return atom{r: rune("\a\f\t\n\r\v"[i]), start: start, end: p.pos}, nil
	}
	look, err := p.assertion(start, c)
	return atom{kind: atomLook, look: look, start: start, end: p.pos}, err
}

// literalEscape reports whether \c is c itself: ASCII except letters, digits, < and >.
func literalEscape(c rune) bool {
	switch {
	case c >= utf8.RuneSelf, c == '<', c == '>':
		return false
	case '0' <= c && c <= '9', 'A' <= c && c <= 'Z', 'a' <= c && c <= 'z':
		return false
	}
	return true
}

// assertion returns the assertion of \c; p.pos is after c.
func (p *parser) assertion(start int, c rune) (hir.Look, error) {
	pick := func(unicode, ascii hir.Look) (hir.Look, error) {
		if p.flags.NoUnicode {
			return ascii, nil
		}
		return unicode, nil
	}
	switch c {
	case 'A':
		return hir.LookStart, nil
	case 'z':
		return hir.LookEnd, nil
	case 'B':
		return pick(hir.LookNotWordUnicode, hir.LookNotWordASCII)
	case '<':
		return pick(hir.LookWordStartUnicode, hir.LookWordStartASCII)
	case '>':
		return pick(hir.LookWordEndUnicode, hir.LookWordEndASCII)
	case 'b':
		name, err := p.boundaryName(start)
		if err != nil {
			return 0, err
		}
		switch name {
		case "start":
			return pick(hir.LookWordStartUnicode, hir.LookWordStartASCII)
		case "end":
			return pick(hir.LookWordEndUnicode, hir.LookWordEndASCII)
		case "start-half":
			return pick(hir.LookWordStartHalfUnicode, hir.LookWordStartHalfASCII)
		case "end-half":
			return pick(hir.LookWordEndHalfUnicode, hir.LookWordEndHalfASCII)
		}
		return pick(hir.LookWordUnicode, hir.LookWordASCII)
	}
	hint := ""
	switch c {
	case 'Z':
		hint = `Use \z for the end of the text.`
	case 'k', 'g':
		return 0, p.failECMA(start, p.pos, fmt.Sprintf("unknown escape \\%c", c), "Backreferences need the JavaScript syntax.")
	case 'K':
		hint = "Put what to keep into a group."
	case 'G':
		hint = `There is no \G; use \A for the start of the text.`
	case 'h':
		hint = `Use [ \t] or \p{Zs} for horizontal space.`
	case 'R':
		hint = `Use (?:\r\n|\n) for a line ending.`
	case 'e':
		hint = `Use \x1B for the escape character.`
	case 'N':
		hint = "Use . for any character but a line feed."
	case 'Q', 'E':
		hint = "Use a literal search instead of quoting."
	}
	return 0, p.fail(start, p.pos, fmt.Sprintf("unknown escape \\%c", c), hint)
}

// boundaryName parses the {name} of \b{name}. It returns "" if there is none: \b{2} is a repetition.
func (p *parser) boundaryName(start int) (string, error) {
	if p.eof() || p.char() != '{' {
		return "", nil
	}
	const hint = "It can be start, end, start-half or end-half."
	brace := p.pos
	letter := func() bool {
		c := p.char()
		return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '-'
	}
	if !p.bumpSpace() {
		return "", p.fail(start, p.pos, "unclosed word boundary or repetition", hint)
	}
	if !letter() {
		p.pos = brace
		return "", nil
	}
	inside := p.pos
	var name []byte
	for !p.eof() && letter() {
		name = append(name, p.pattern[p.pos])
		p.bumpSpace()
	}
	if p.eof() || p.char() != '}' {
		return "", p.fail(brace, p.pos, "unclosed word boundary", hint)
	}
	end := p.pos
	p.bump()
	switch string(name) {
	case "start", "end", "start-half", "end-half":
		return string(name), nil
	}
	return "", p.fail(inside, end, "unknown word boundary", hint)
}

// hex parses \xNN, \uNNNN, \UNNNNNNNN or a number in braces; p.pos is at the letter.
func (p *parser) hex(start int) (atom, error) {
	digits := map[rune]int{'x': 2, 'u': 4, 'U': 8}[p.char()]
	unfinished := func() (atom, error) {
		return atom{}, p.fail(start, p.pos, "unfinished hexadecimal escape", `Write \xNN, \uNNNN or \x{N…}.`)
	}
	fixed := digits == 2
	if !p.bumpSpace() {
		return unfinished()
	}
	braces := p.char() == '{'
	if braces {
		digits, fixed = -1, false
		p.bumpSpace()
	}
	from, n, count := p.pos, rune(0), 0
	for ; count != digits; count++ {
		if p.eof() {
			return unfinished()
		}
		c := p.char()
		if braces && c == '}' {
			break
		}
		d := strings.IndexRune("0123456789abcdef", c|0x20)
		if d < 0 || c >= utf8.RuneSelf || c < '0' || c > '9' && c < 'A' {
			at := p.pos
			p.bump()
			return atom{}, p.fail(at, p.pos, fmt.Sprintf("%q isn't a hexadecimal digit", string(c)), `Write \xNN, \uNNNN or \x{N…}.`)
		}
		n = min(n<<4|rune(d), utf8.MaxRune+1)
		p.bumpSpace()
	}
	to := p.pos
	if braces {
		p.bumpSpace()
	}
	switch {
	case count == 0:
		return atom{}, p.fail(start, p.pos, "empty hexadecimal escape", `Write the character's number in the braces.`)
	case !utf8.ValidRune(n):
		return atom{}, p.fail(from, to, "hexadecimal escape isn't a Unicode scalar value", "The largest is 10FFFF; D800 to DFFF are not characters.")
	}
	return atom{r: n, fixedHex: fixed, start: start, end: to}, nil
}
