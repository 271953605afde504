package review

import (
	"context"
	"slices"
	"strings"

	"quarry/change"
	"quarry/fault"
)

var (
	errShown  = fault.New(fault.InvalidArgument, "the proposal is decided", "the diff of the change that was made has all lines: quarry diff")
	errClosed = fault.New(fault.ProtectedPath, "the policy of this workspace closes files of the proposal", "")
)

// Whole returns a file of a proposal with all lines, including those omitted from the
// proposal. They are computed again, so the files must be unchanged.
func (s *Store) Whole(ctx context.Context, ws Workspace, p *Proposal, file int) (*File, error) {
	switch {
	case !p.State.Open():
		return nil, errShown
	case s.Seen(ctx, ws, p) != p:
		return nil, errClosed
	}
	if stale := s.Stale(ctx, ws, p); len(stale) > 0 {
		return nil, &StaleError{p.ID, []string{stale[0].Path}}
	}
	plan, err := planOf(ctx, ws, p)
	if err != nil {
		return nil, err
	}
	f := p.Files[file]
	var text strings.Builder
	for _, d := range plan.Diffs {
		owner := slices.IndexFunc(p.Files, func(f File) bool { return f.has(d) })
		if owner < 0 { // a diff that belongs to no operation is caused by a move
			owner = slices.IndexFunc(p.Files, func(f File) bool { return f.Op == change.MovePath })
		}
		if owner == file {
			text.WriteString(d.Hunks)
		}
	}
	f.Note = strings.TrimSpace(strings.Replace(f.Note, cutNote(f.Cut.Added+f.Cut.Removed), "", 1))
	f.Hunks, f.Cut = whole(text.String()), Lines{}
	return &f, nil
}

func (f *File) has(d change.PathDiff) bool {
	return d.Old == f.Path || d.New == f.Path || f.To != "" && d.New == f.To
}

// planOf plans a proposal again, with full diffs.
func planOf(ctx context.Context, ws Workspace, p *Proposal) (*change.Change, error) {
	if p.undoes() {
		o := p.undo()
		o.DryRun, o.FullDiff, o.AllLines = true, true, true
		return ws.Undo(ctx, p.Undo, o)
	}
	set := p.Set
	set.FullDiff, set.AllLines = true, true
	return ws.Plan(ctx, set)
}
