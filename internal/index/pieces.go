package index

import "quarry/internal/trigram"

// A search for one page of hits needs the first candidates soon, and often none of the
// rest. Most of its time is spent on intersecting the lists of common grams for all
// documents: in Linux 6.1, with 78,600 files, it takes 4 of the 5 ms until the first hit of
// a frequent word, ignoring case. So documents are looked up in pieces as [Candidates.Each]
// reaches them. The first piece has 1/firstShare of the documents; each further piece
// is twice as large as the previous one.
const (
	firstShare = 32
	minPiece   = 1024
	// gradualFrom is the number of remaining blocks above which pieces are worthwhile. Each
	// piece looks up its lists again.
	gradualFrom = 2048
)

// firstPiece returns the documents to look up first. If a lookup is fast, these are all
// documents.
func (s *segment) firstPiece(f *trigram.Formula, in span, size int) span {
	if size > 0 {
		return span{in.lo, min(in.lo+size, in.hi)}
	}
	e := evaluation{seg: s}
	size = max(minPiece, (in.hi-in.lo)/firstShare)
	if most := e.most(f); in.hi-in.lo <= 2*size || most < gradualFrom || e.nearlyAll(most) {
		return in
	}
	return span{in.lo, in.lo + size}
}

// pieces returns a function that looks up the rest of a view.
func (c *Candidates) pieces(vc viewCandidates) func(*stream) (bool, error) {
	return func(s *stream) (bool, error) {
		if vc.piece.hi >= vc.in.hi {
			return false, nil
		}
		size := 2 * (vc.piece.hi - vc.piece.lo)
		vc.piece = span{vc.piece.hi, min(vc.piece.hi+size, vc.in.hi)}
		vc.ids, vc.blocks = nil, nil
		if err := c.find(&vc); err != nil {
			return false, err
		}
		if vc.all { // the grams exclude nothing in this piece
			for id := vc.piece.lo; id < vc.piece.hi; id++ {
				vc.ids = append(vc.ids, uint32(id))
			}
		}
		if vc.piece.hi == vc.in.hi {
			c.open--
			c.Plan.Partial = c.open > 0
		}
		s.ids, s.blocks = vc.ids, vc.blocks
		return true, nil
	}
}
