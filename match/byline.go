package match

import "quarry/internal/re/hir"

// ByLine reports that in Multiline mode a text may be searched a few whole lines at a
// time: no match reaches from one line into the next, and none depends on where the
// text begins or ends.
func (p *Pattern) ByLine() bool {
	pl := p.plan
	if pl.superset {
		return false
	}
	prog := pl.prog()
	if prog.Looks.Has(hir.LookStart) || prog.Looks.Has(hir.LookEnd) {
		return false
	}
	f := pl.fence
	if f == nil {
		f = newFence(prog)
	}
	return f != nil && f.lineFeed
}
