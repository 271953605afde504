package ecma

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"quarry/internal/re/hir"
	"quarry/internal/re/syntax"
)

// The sets shared by all patterns. hir classes are immutable.
var (
	lineTerminators = hir.NewClass(hir.Range{Lo: '\n', Hi: '\n'}, hir.Range{Lo: '\r', Hi: '\r'}, hir.Range{Lo: 0x2028, Hi: 0x2029})
	digits          = hir.NewClass(hir.Range{Lo: '0', Hi: '9'})
	words           = hir.NewClass(hir.Range{Lo: '0', Hi: '9'}, hir.Range{Lo: 'A', Hi: 'Z'}, hir.Range{Lo: '_', Hi: '_'}, hir.Range{Lo: 'a', Hi: 'z'})
	// wordsFold is \w with the flag i and u or v, which adds the characters that fold to a
	// word character.
	wordsFold = words.Union(hir.NewClass(hir.Range{Lo: 0x17F, Hi: 0x17F}, hir.Range{Lo: 0x212A, Hi: 0x212A}))
	spaces    = hir.NewClass(
		hir.Range{Lo: '\t', Hi: '\r'}, hir.Range{Lo: ' ', Hi: ' '}, hir.Range{Lo: 0xA0, Hi: 0xA0}, hir.Range{Lo: 0x1680, Hi: 0x1680},
		hir.Range{Lo: 0x2000, Hi: 0x200A}, hir.Range{Lo: 0x2028, Hi: 0x2029}, hir.Range{Lo: 0x202F, Hi: 0x202F},
		hir.Range{Lo: 0x205F, Hi: 0x205F}, hir.Range{Lo: 0x3000, Hi: 0x3000}, hir.Range{Lo: 0xFEFF, Hi: 0xFEFF})
	noChars = hir.NewClass()
)

// operand is the value of a class or of a part of one: characters and, with v, strings whose
// length isn't one. With v and i both are already folded: set consists of whole equivalence
// classes, and strings are in canonical form.
type operand struct {
	set     *hir.Class
	strings map[string]bool
	may     bool // strings are possible according to the grammar
}

// leaf returns a set as an operand. With v, folding comes before set operations, otherwise after them.
func (p *parser) leaf(set *hir.Class) operand {
	if p.flags&UnicodeSets != 0 {
		set = p.closed(set)
	}
	return operand{set: set}
}

// operandNode returns a node that matches one member of v, preferring longer strings.
func (p *parser) operandNode(v operand) *Node {
	set := p.node(Node{Kind: KindSet, Set: p.closed(v.set)})
	if len(v.strings) == 0 {
		return set
	}
	byLength := slices.SortedFunc(maps.Keys(v.strings), func(a, b string) int {
		if d := utf8.RuneCountInString(b) - utf8.RuneCountInString(a); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	var alts []*Node
	placed := false
	for _, s := range byLength {
		if s == "" {
			alts = append(alts, set)
			placed = true
		}
		var seq []*Node
		for _, r := range s {
			seq = append(seq, p.char(r))
		}
		alts = append(alts, newConcat(seq))
	}
	if !placed {
		alts = append(alts, set)
	}
	return newAlt(alts)
}

// class parses a bracketed class.
func (p *parser) class() *Node {
	start := p.pos
	if p.flags&UnicodeSets != 0 {
		return p.operandNode(p.classSet())
	}
	p.pos++
	negate := p.accept("^")
	var ranges []hir.Range
	for !p.accept("]") {
		if p.done() {
			p.unterminatedClass(start)
			return &Node{}
		}
		ranges = p.classRange(ranges, start)
	}
	set := p.closed(hir.NewClass(ranges...))
	if negate {
		set = set.Negate()
	}
	return p.node(Node{Kind: KindSet, Set: set})
}

func (p *parser) unterminatedClass(start int) {
	p.fail(start, 1, "Unterminated character class", `Close it with ']', or write \[ for a literal bracket.`)
}

// classRange adds one member, range or class escape. A hyphen beside a class escape is
// literal, unless the grammar is strict.
func (p *parser) classRange(ranges []hir.Range, start int) []hir.Range {
	from := p.pos
	lo, loSet := p.classAtom()
	add := func(r rune, set *hir.Class) {
		if set != nil {
			p.take(syntax.RangeBytes * len(set.Ranges))
			ranges = append(ranges, set.Ranges...)
			return
		}
		ranges = append(ranges, hir.Range{Lo: r, Hi: r})
	}
	if p.at(0) != '-' || p.err != nil {
		add(lo, loSet)
		return ranges
	}
	p.pos++
	if p.done() || p.at(0) == ']' {
		add(lo, loSet)
		add('-', nil)
		return ranges
	}
	hi, hiSet := p.classAtom()
	switch {
	case p.err != nil:
	case loSet != nil || hiSet != nil:
		if p.flags.strict() {
			p.fail(from, p.pos-from, "Invalid character class", `A class such as \d can't be an end of a range; write \- for a hyphen.`)
			break
		}
		add(lo, loSet)
		add('-', nil)
		add(hi, hiSet)
	case lo > hi:
		p.outOfOrder(from)
	default:
		ranges = append(ranges, hir.Range{Lo: lo, Hi: hi})
	}
	return ranges
}

func (p *parser) outOfOrder(from int) {
	p.fail(from, p.pos-from, "Range out of order in character class", `Swap the ends, or write \- for a hyphen.`)
}

// classAtom parses a character, or a class escape as a set.
func (p *parser) classAtom() (rune, *hir.Class) {
	start := p.pos
	if p.at(0) != '\\' {
		return p.rune(), nil
	}
	p.pos++
	if p.done() {
		p.fail(start, 1, `\ at end of pattern`, `Write \\ for a literal backslash.`)
		return 0, nil
	}
	if p.accept("b") {
		return '\b', nil
	}
	if v, ok := p.classEscape(start, true); ok {
		return 0, v.set
	}
	return p.charEscape(start, true), nil
}
