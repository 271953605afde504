package review

import (
	"fmt"
	"slices"
	"strings"

	"quarry/change"
	"quarry/internal/rootfs/version"
)

// madeInPart is the answer to a call that was accepted in part or merged with later
// changes. It has the actual changes, from the journal, and lists the accepted and
// refused parts by path and line.
func (g *Gate) madeInPart(p *Proposal, plan *change.Change) *change.Change {
	c := &change.Change{
		ID: p.Change, Time: p.Decided, Tool: p.Tool, Client: p.Client, Summary: p.partSummary(),
		Did: change.Action{Verb: change.Noted, Text: p.partSummary()}, Reviewed: p.reviewed(), Warnings: plan.Warnings, Broken: p.Broken,
	}
	for i := range p.Files {
		f := &p.Files[i]
		if f.accepted() == 0 {
			continue
		}
		c.Files = append(c.Files, f.made())
		c.Paths = append(c.Paths, f.Path)
		switch f.Op {
		case change.MovePath:
			c.Paths, c.Links = append(c.Paths, f.To), plan.Links
		case change.DeletePath:
			c.Trash = plan.Trash
		}
	}
	if len(c.Files) == 1 {
		c.Version = c.Files[0].Version
	}
	shown, err := g.inner.Diff(p.Change, nil)
	if err != nil {
		c.Warnings = append(slices.Clone(c.Warnings), "no diff: "+err.Error())
		return c
	}
	c.Diff, c.Diffs, c.NoUndo = shown.Diff, shown.Diffs, shown.NoUndo
	return c
}

// partSummary returns the journal's summary of a change accepted in part.
func (p *Proposal) partSummary() string {
	all, yes, _ := p.Counts()
	if yes == all {
		return p.Summary
	}
	note := fmt.Sprintf(" (in part: %d of %d hunks)", yes, all)
	return change.OneLine(p.Summary, change.MaxSummary-len(note)) + note
}

// accepted returns the number of accepted hunks of a file.
func (f *File) accepted() int {
	n := 0
	for _, h := range f.Hunks {
		if h.Verdict == Yes {
			n++
		}
	}
	return n
}

// did returns the verb for what a proposal does to a file.
func (f *File) did() change.Verb {
	switch f.Op {
	case change.DeletePath:
		return change.Deleted
	case change.MovePath:
		return change.Moved
	case change.MakeFolder:
		return change.MadeFolder
	}
	if f.Before == "" {
		return change.Created
	}
	return change.Edited
}

// made returns the accepted part of a file's change for the report.
func (f *File) made() change.File {
	out := change.File{Path: f.Path, To: f.To, Did: f.did()}
	for _, part := range f.parts(Yes) {
		out.Added, out.Removed = out.Added+part.Added, out.Removed+part.Removed
		if part.Added+part.Removed > 0 {
			out.Hunks++
		}
	}
	switch {
	case f.Placed != "":
		out.Version = f.Placed
	case f.accepted() < len(f.Hunks):
		out.Version = version.Of(merge(f.Old, f.Hunks)).String()
	case isVersion(f.After):
		out.Version = f.After
	}
	return out
}

// reviewed lists the accepted and the refused parts.
func (p *Proposal) reviewed() *change.Reviewed {
	r := &change.Reviewed{Proposal: p.ID, Comments: p.Comments()}
	for i := range p.Files {
		r.Written = append(r.Written, p.Files[i].parts(Yes)...)
		r.Refused = append(r.Refused, p.Files[i].parts(No)...)
	}
	return r
}

// parts lists the hunks of a file with the verdict v.
func (f *File) parts(v Verdict) []change.Part {
	var list []change.Part
	lines := f.lines()
	for i := range f.Hunks {
		if f.Hunks[i].Verdict != v {
			continue
		}
		part := change.Part{Path: f.Path, To: f.To, Did: f.did(), Line: lines[i]}
		part.Added, part.Removed = linesOf(f.Hunks[i : i+1])
		if len(f.Hunks) == 1 {
			part.Added, part.Removed = part.Added+f.Cut.Added, part.Removed+f.Cut.Removed
		}
		list = append(list, part)
	}
	return list
}

// lines returns for each hunk its first changed line, numbered as in the file after the
// decision. It is 0 for a hunk that creates, moves or deletes the whole file.
func (f *File) lines() []int {
	list := make([]int, len(f.Hunks))
	if f.did() != change.Edited {
		return list
	}
	shift := 0 // number of lines added so far by accepted hunks
	for i := range f.Hunks {
		h := &f.Hunks[i]
		if h.Text != "" {
			line := h.firstChanged()
			if f.Placed != "" {
				line = f.At[i]
			}
			list[i] = max(line+shift, 1)
		}
		if h.Verdict == Yes {
			shift += h.NewCount - h.OldCount
		}
	}
	return list
}

// firstChanged returns the number, in the old text, of the first line that the hunk
// removes, or before which it adds one.
func (h *Hunk) firstChanged() int {
	line := h.OldStart
	if h.OldCount == 0 {
		line++ // for an empty range, OldStart is the line before it
	}
	for l := range strings.Lines(h.Text) {
		if l[0] != ' ' {
			break
		}
		line++
	}
	return line
}
