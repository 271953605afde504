package match

import "quarry/internal/re/hir"

// ByLine reports that in Multiline mode a text may be searched a few whole lines at a
// time: no match reaches from one line into the next, and none depends on where the
// text begins or ends.
func (p *Pattern) ByLine() bool {
	f := p.lineFence()
	return f != nil && f.lineFeed
}

// OneLine reports that no match contains a line ending or a part of one, and that
// none depends on the start or the end of a line. If this holds for an expression
// in Multiline and in Lines mode, its matches are the same in both.
func (p *Pattern) OneLine() bool {
	f := p.lineFence()
	return f != nil && f.lineFeed && f.bytes['\r'] && !p.plan.prog().Looks.HasAny(atStart|atEnd|1<<hir.LookStartLineJS|1<<hir.LookEndLineJS)
}

// lineFence returns the bytes that no match contains. It is nil if a match
// depends on where the text begins or ends.
func (p *Pattern) lineFence() *fence {
	pl := p.plan
	if pl.superset {
		return nil
	}
	prog := pl.prog()
	if prog.Looks.Has(hir.LookStart) || prog.Looks.Has(hir.LookEnd) {
		return nil
	}
	if pl.fence != nil {
		return pl.fence
	}
	return newFence(prog)
}
