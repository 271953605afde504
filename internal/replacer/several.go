package replacer

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"quarry/change"
	"quarry/fault"
)

// FindAll works out the edits of several replacements as one set. Each is of the files as
// they are, not as another one leaves them. Expected of the first counts the matches of
// all. A replacement that matches nothing is left out, if another one does; Each tells.
func FindAll(ctx context.Context, files Files, list []Query) (*Found, error) {
	if len(list) == 1 {
		return Find(ctx, files, list[0])
	}
	all := &Found{Each: make([]int, len(list))}
	at := map[string]int{}         // of Ops
	places := map[string][]place{} // of the edits of a file
	for i, q := range list {
		q.Expected = 0
		found, err := Find(ctx, files, q)
		if all.Summary == nil && found != nil {
			all.Summary = found.Summary
		}
		if err == ErrNone {
			continue
		}
		if err != nil {
			return nil, err
		}
		all.Each[i], all.Matches, all.Forms = found.Matches, all.Matches+found.Matches, all.Forms+found.Forms
		all.Samples = append(all.Samples, found.Samples...)
		for k, op := range found.Ops {
			n, known := at[op.Path]
			if !known {
				n = len(all.Ops)
				at[op.Path] = n
				all.Ops = append(all.Ops, change.Op{Verb: op.Verb, Path: op.Path, Version: op.Version})
				all.Counts = append(all.Counts, FileCount{Path: op.Path})
			}
			if all.Ops[n].Version != op.Version {
				return nil, fault.New(fault.Conflict, fault.Printable(op.Path)+" changed while it was searched; nothing was changed", "try again")
			}
			all.Counts[n].Matches += found.Counts[k].Matches
			for _, e := range op.Edits {
				places[op.Path] = append(places[op.Path], place{e, i})
			}
		}
	}
	for i := range all.Ops {
		op := &all.Ops[i]
		var err error
		if op.Edits, err = apart(places[op.Path], op.Path, list); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(all.Ops, func(a, b change.Op) int { return cmp.Compare(a.Path, b.Path) })
	slices.SortFunc(all.Counts, func(a, b FileCount) int { return cmp.Compare(a.Path, b.Path) })
	return all, all.asExpected(list[0].Expected)
}

// place is an edit and the replacement it is of.
type place struct {
	change.Edit
	of int
}

// apart puts the edits of a file into order, and refuses those that have text in common.
func apart(list []place, path string, queries []Query) ([]change.Edit, error) {
	slices.SortStableFunc(list, func(a, b place) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End)) })
	edits := make([]change.Edit, len(list))
	for i, p := range list {
		if i > 0 && (p.Start < list[i-1].End || p.Start == list[i-1].Start) {
			return nil, &OverlapError{Path: path, A: queries[min(p.of, list[i-1].of)].Pattern, B: queries[max(p.of, list[i-1].of)].Pattern}
		}
		edits[i] = p.Edit
	}
	return edits, nil
}

// OverlapError refuses replacements of which two want the same text.
type OverlapError struct{ Path, A, B string }

func (e *OverlapError) Error() string {
	return fmt.Sprintf("in %s %q and %q match the same text; nothing was changed", fault.Printable(e.Path), e.A, e.B)
}

// Unwrap gives the code.
func (e *OverlapError) Unwrap() error { return fault.Conflict }

// Hint says how to go on.
func (e *OverlapError) Hint() string {
	return "write patterns that leave each other out, as \\bname\\b does, or replace one after the other"
}
