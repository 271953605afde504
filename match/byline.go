package match

import (
	"quarry/internal/re/hir"
	"quarry/internal/re/vec"
)

// ByLine reports whether, in Multiline mode, a text may be searched a few whole lines at a
// time: no match spans lines or depends on where the text begins or ends.
func (p *Pattern) ByLine() bool {
	f := p.lineFence()
	return f != nil && f.lineFeed
}

// OneLine reports whether no match of a pattern in Multiline mode contains a line ending or a
// part of one. In Lines mode its expression then has the same matches, except for texts with a
// \r in the middle of a line, and without empty matches inside a line ending.
func (p *Pattern) OneLine() bool {
	f := p.lineFence()
	return f != nil && f.lineFeed && (f.bytes['\r'] || p.opts.KeepCR)
}

// Cut returns an offset at which buf may be cut so that, in Multiline mode, searching both parts
// gives the matches of the whole. That is the offset after the last line feed in buf[from:] that
// no match can contain, or 0 if there is none. It doesn't depend on the text after buf.
//
// If ByLine is true, that is after the last line feed. For \w+\s+Holmes it is after the last one
// that follows, for example, a full stop: no match contains a full stop or begins with white space.
func (p *Pattern) Cut(buf []byte, from int) int {
	c := p.plan.cutter()
	if c == nil {
		return 0
	}
	for end := len(buf); ; {
		i := vec.LastIndexByte(buf[from:end], '\n')
		if i < 0 {
			return 0
		}
		end = from + i
		if c.lineFeed {
			return end + 1
		}
		low := max(0, end-maxCutBack)
		for k := end; k > low && c.passes[buf[k]]; k-- {
			if c.bytes[buf[k-1]] {
				return end + 1
			}
		}
	}
}

// maxCutBack is how far Cut looks back from a line feed for a byte that no match contains.
const maxCutBack = 64

// Cuts reports whether Cut can find an offset in some texts.
func (p *Pattern) Cuts() bool { return p.plan.cutter() != nil }

// cutter is a fence and the set of bytes with which no match begins.
type cutter struct {
	*fence
	passes [256]bool
}

// newCutter returns nil if texts can't be cut.
func (p *Pattern) newCutter() *cutter {
	if p.opts.Mode != Multiline {
		return nil
	}
	f := p.lineFence()
	if f == nil {
		return nil
	}
	c := &cutter{fence: f}
	prog := p.plan.prog()
	for b, first := range prog.First {
		c.passes[b] = !first
	}
	if !f.lineFeed && (prog.Nullable || !c.passes['\n']) {
		return nil
	}
	return c
}

// lineFence returns the fence of bytes that no match contains, or nil if a match depends on
// where the text begins or ends.
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
