package ecma

import (
	"strings"

	"quarry/internal/re/hir"
	"quarry/internal/re/ucd"
)

// property parses {…} after \p or \P.
func (p *parser) property(negate bool) (operand, bool) {
	if !p.accept("{") {
		return operand{}, false
	}
	end := strings.IndexByte(p.src[p.pos:], '}')
	if end < 0 {
		return operand{}, false
	}
	text := p.src[p.pos : p.pos+end]
	p.pos += end + 1
	name, value, hasValue := strings.Cut(text, "=")
	if hasValue && value == "" {
		return operand{}, false
	}
	if list, ok := ucd.Strings(name); ok && !hasValue && !negate && p.flags&UnicodeSets != 0 {
		return p.stringSet(list), true
	}
	ranges, ok := ucd.Exact(name, value)
	if !ok {
		return operand{}, false
	}
	v := p.leaf(classOf(ranges))
	if negate {
		// With v the set is folded and then negated, otherwise negated and then folded.
		v.set = v.set.Negate()
	}
	return v, true
}

// stringSet returns the operand for a property of strings.
func (p *parser) stringSet(list []string) operand {
	all := union{strings: map[string]bool{}, may: true}
	for _, s := range list {
		runes := []rune(s)
		if len(runes) == 1 {
			all.ranges = append(all.ranges, hir.Range{Lo: runes[0], Hi: runes[0]})
		} else if text, ok := p.canonical(runes); ok {
			all.strings[text] = true
		}
	}
	v := all.operand()
	v.set = p.leaf(v.set).set
	return v
}

func classOf(ranges []ucd.Range) *hir.Class {
	out := make([]hir.Range, len(ranges))
	for i, r := range ranges {
		out[i] = hir.Range(r)
	}
	return hir.NewClass(out...)
}
