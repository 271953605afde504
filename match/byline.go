package match

import "quarry/internal/re/hir"

// ByLine reports that in Multiline mode a text may be searched a few whole lines at a
// time: no match reaches from one line into the next, and none depends on where the
// text begins or ends.
func (p *Pattern) ByLine() bool {
	f := p.lineFence()
	return f != nil && f.lineFeed
}

// OneLine reports that no match of a pattern in Multiline mode is empty, and none
// contains a line ending or a part of one. In Lines mode the matches of its
// expression are the same, unless \r stands in the middle of a line.
func (p *Pattern) OneLine() bool {
	f := p.lineFence()
	return f != nil && f.lineFeed && f.bytes['\r'] && !p.plan.prog().Nullable
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
