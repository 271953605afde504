package search

import (
	"bytes"
	"cmp"
	"slices"
)

// MostMatches returns the files with the most matching lines. search only knows path
// order, so MostMatches counts all files and passes on the best.
func MostMatches(q Query, yield func(*FileMatch) error, search func(Query, func(*FileMatch) error) (*Summary, error)) (*Summary, error) {
	most := q.Limits.Files
	q.Order, q.Limits.Files, q.Parts = ByPath, 0, false
	var all []FileMatch
	sum, err := search(q, func(f *FileMatch) error {
		one := *f
		one.Lines = slices.Clone(f.Lines)
		for i := range one.Lines {
			one.Lines[i].Text = bytes.Clone(one.Lines[i].Text)
		}
		all = append(all, one)
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b FileMatch) int { return cmp.Compare(b.Matched, a.Matched) })
	if most > 0 && len(all) > most {
		all = all[:most]
		sum.Stopped = cmp.Or(sum.Stopped, StopFiles)
	}
	for i := range all {
		if err := yield(&all[i]); err != nil {
			return nil, err
		}
	}
	return sum, nil
}
