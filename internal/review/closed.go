package review

import (
	"context"
	"slices"
	"strings"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/policy"
)

// closedFile replaces the path of a file that the policy hides, because the path may be
// secret too.
const closedFile = "(a file that is closed here)"

// Seen returns the parts of a proposal that this workspace may show. The client that made
// it may have had access to more files. Files that are closed to this workspace are
// masked, and accepting them here is refused.
func (s *Store) Seen(ctx context.Context, ws Files, p *Proposal) *Proposal {
	closed := func(f File) bool {
		return isClosed(ctx, ws, f.Path) || f.To != "" && isClosed(ctx, ws, f.To) || showsSecret(ctx, ws, p, &f)
	}
	if !slices.ContainsFunc(p.Files, closed) {
		return p
	}
	out := *p
	out.Summary, out.Files = "changes files that are closed here", slices.Clone(p.Files)
	for i := range out.Files {
		if f := &out.Files[i]; closed(*f) {
			hunks := make([]Hunk, len(f.Hunks))
			for j := range hunks {
				hunks[j] = Hunk{Verdict: f.Hunks[j].Verdict, Comment: f.Hunks[j].Comment}
			}
			*f = File{Path: closedFile, Op: f.Op, Ops: f.Ops, Before: f.Before, After: f.After, Hunks: hunks, Note: "not shown: the policy of this workspace keeps the file closed"}
		}
	}
	out.Set, out.Problem, out.Broken = p.Set, "", nil
	out.Set.Ops, out.Set.Summary = make([]change.Op, len(p.Set.Ops)), "" // these contain contents and names
	return &out
}

func isClosed(ctx context.Context, ws Files, path string) bool {
	_, err := ws.Stat(ctx, path)
	return err != nil && fault.CodeOf(err) == fault.ProtectedPath
}

// showsSecret reports whether a proposal contains a credential for a file that the policy
// checks by content and that this workspace may not write.
func showsSecret(ctx context.Context, ws Files, p *Proposal, f *File) bool {
	for _, path := range []string{f.Path, f.To} {
		if !policy.IsSuspect(path) || !policy.IsSecretText(p.texts(f)) {
			continue
		}
		try := change.Set{Ops: []change.Op{{Verb: change.WriteFile, Path: path, Content: []byte("password=x1")}}}
		if _, err := ws.Plan(ctx, try); err != nil {
			return true
		}
	}
	return false
}

// texts returns all text that a proposal contains for a file.
func (p *Proposal) texts(f *File) []byte {
	all := append(slices.Clone(f.Old), '\n')
	for _, h := range f.Hunks {
		all = append(all, h.Text+"\n"...)
	}
	for _, i := range f.Ops {
		op := &p.Set.Ops[i]
		all = append(append(all, op.Content...), '\n')
		for _, e := range op.Edits {
			all = append(all, strings.Join([]string{e.Old, e.New, e.Hunk, e.At + "=" + e.New, ""}, "\n")...)
		}
	}
	return all
}
