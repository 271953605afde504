package review

import "quarry/change"

// Merge applies the hunks with the verdict Yes to the old text.
func Merge(old []byte, hunks []Hunk, verdicts []Verdict) string {
	list := append([]Hunk{}, hunks...)
	for i := range list {
		list[i].Verdict = verdicts[i]
	}
	return string(merge(old, list))
}

// Reviewed lists the written and the refused parts.
func (p *Proposal) Reviewed() *change.Reviewed { return p.reviewed() }
