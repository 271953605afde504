package ecma

import (
	"strings"

	"quarry/internal/re/hir"
	"quarry/internal/re/ucd"
)

// property takes {…} after \p or \P.
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
	ranges, ok := ucd.Exact(name, value)
	if !ok {
		return operand{}, false
	}
	v := p.leaf(classOf(ranges))
	if negate {
		// Under v the complement is of the folded set, otherwise what
		// folds is the complement.
		v.set = v.set.Negate()
	}
	return v, true
}

func classOf(ranges []ucd.Range) *hir.Class {
	out := make([]hir.Range, len(ranges))
	for i, r := range ranges {
		out[i] = hir.Range(r)
	}
	return hir.NewClass(out...)
}
