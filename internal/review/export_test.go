package review

import "quarry/change"

// Merge is the old text with the hunks that have the verdict Yes.
func Merge(old []byte, hunks []Hunk, verdicts []Verdict) string {
	list := append([]Hunk{}, hunks...)
	for i := range list {
		list[i].Verdict = verdicts[i]
	}
	return string(merge(old, list))
}

// Reviewed lists what was written and what was refused.
func (p *Proposal) Reviewed() *change.Reviewed { return p.reviewed() }
