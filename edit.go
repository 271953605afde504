package quarry

import (
	"context"
	"errors"
	"fmt"

	"quarry/change"
	"quarry/internal/journal"
	"quarry/internal/rootfs"
	"quarry/internal/textedit"
	"quarry/internal/textfile"
)

// Edit changes parts of a text file. All edits are found in the file as it is
// and made at once; if one can't be, none is. Every byte outside the spans they
// name stays, and so do encoding, mode, owner and extended attributes. New text
// takes the file's encoding and line ending.
func (w *Workspace) Edit(ctx context.Context, path string, edits []change.Edit, opts *ChangeOptions) (*Change, error) {
	if len(edits) == 0 {
		return nil, fmt.Errorf("edit %s: %w", rootfs.Printable(path), ErrNoEdits)
	}
	o := given(opts)
	return w.modify(ctx, path, toolOf(o, "edit"), "", o, func(*textfile.Document) ([]change.Edit, error) { return edits, nil })
}

// modify is Edit for edits that are worked out from the text. kind, when not
// "", is what the one edit is called.
func (w *Workspace) modify(ctx context.Context, path, tool string, kind change.Verb, o ChangeOptions, plan func(*textfile.Document) ([]change.Edit, error)) (*Change, error) {
	if w.elsewhere != nil {
		return w.inCheckout(ctx, path, func(ws *Workspace, rel string) (*Change, error) {
			return ws.modify(ctx, rel, tool, kind, o, plan)
		})
	}
	if err := w.changeable("edit"); err != nil {
		return nil, err
	}
	p, err := w.root.Resolve(path)
	if err != nil {
		return nil, err
	}
	unlock, err := w.state.locks.lock(ctx, p)
	if err != nil {
		return nil, err
	}
	defer unlock()
	data, _, err := w.root.ReadContent(p, maxRead)
	if err != nil {
		return nil, err
	}
	sum := rootfs.SumOf(data)
	edits, edited, err := planEdits(p, data, plan)
	// That the file is another one explains why an edit can't be made.
	if o.ExpectedVersion != "" {
		if err := checkVersion(p, sum.Version(), o.ExpectedVersion); err != nil {
			return nil, err
		}
	}
	if err != nil {
		return nil, err
	}
	c := &Change{Tool: tool, Paths: []string{p.String()}, DryRun: o.DryRun, Edits: outcomes(edits, edited.Outcomes)}
	if kind != "" {
		c.Edits[0].Kind = kind
	}
	did(c, editAction(c), o)
	c.Size, c.Unchanged = edited.Size(), edited.Empty()
	diff := editDiff(p.String(), p.String(), edited)
	showDiff(c, diff)
	if edited.TurnsBinary {
		c.Warnings = append(c.Warnings, "the file will count as binary: the edit moves a NUL into its first 64 KiB")
	}
	if c.Unchanged {
		c.Version = sum.Version().String()
		return c, nil
	}
	s := w.spliceStep(p, sum, data, edited, diff.Hunks)
	c.Version = s.op.New.String()
	if o.DryRun {
		return c, nil
	}
	return settled(c, w.carryOut(ctx, c, []step{s}))
}

// planEdits reads the file as text and works the edits out.
func planEdits(p rootfs.Path, data []byte, plan func(*textfile.Document) ([]change.Edit, error)) ([]change.Edit, *textedit.Change, error) {
	doc, err := document(p, data)
	if err != nil {
		return nil, nil, err
	}
	edits, err := plan(doc)
	if err != nil {
		return nil, nil, err
	}
	edited, err := textedit.Apply(doc, edits...)
	if err != nil {
		return nil, nil, fmt.Errorf("edit %s: %w", rootfs.Printable(p.String()), err)
	}
	return edits, edited, nil
}

// document reads a file's bytes as text.
func document(p rootfs.Path, data []byte) (*textfile.Document, error) {
	doc, err := textfile.New(data)
	var binary *textfile.BinaryError
	if errors.As(err, &binary) {
		return nil, fmt.Errorf("%w: %s: %w", ErrNotText, p, err)
	}
	return doc, err
}

// checkVersion refuses a file that is not what the caller has seen.
func checkVersion(p rootfs.Path, have rootfs.Version, expected string) error {
	if expected == "" {
		return nil
	}
	want, err := rootfs.ParseVersion(expected)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrBadVersion, err)
	}
	if want != have {
		return &rootfs.Error{Op: "edit", Path: p.String(), Kind: rootfs.Conflict, Err: &VersionError{Have: have.String(), Want: expected}}
	}
	return nil
}

// spliceStep gives the file at p the content of an edit, provided it is still
// the version that was read. shown are the hunks of its diff.
func (w *Workspace) spliceStep(p rootfs.Path, sum *rootfs.Sum, old []byte, edited *textedit.Change, shown string) step {
	splices := edited.Splices()
	edits := make([]rootfs.Edit, len(splices))
	for i, s := range splices {
		edits[i] = rootfs.Edit{Off: int64(s.Start), Len: int64(s.End - s.Start), Data: s.New}
	}
	next := sum.Edited(edits)
	version := sum.Version()
	return step{
		op: journal.Op{Kind: journal.Replace, Path: p, Old: version, New: next, OldData: old, Edits: edits, Shown: shown},
		do: func(*journal.Tx) error {
			_, err := w.root.Splice(p, edits, version, &rootfs.ReplaceOptions{Old: old, Want: next})
			return err
		},
		back: func() error {
			_, err := w.root.Replace(p, old, next, nil)
			return err
		},
	}
}

func outcomes(edits []change.Edit, done []textedit.Outcome) []change.Outcome {
	out := make([]change.Outcome, len(done))
	for i, d := range done {
		out[i] = change.Outcome{Kind: change.Replaced, Count: d.Count, Line: d.Line, Remaining: d.Remaining, RemainingLines: d.RemainingLines}
		switch edits[i].Verb {
		case change.InsertAfter:
			out[i].Kind = change.Inserted
		case change.InsertBefore:
			out[i].Kind, out[i].Before = change.Inserted, true
		case change.DeleteLines:
			out[i].Kind = change.DeletedLines
		}
	}
	return out
}

// diffLimits cap the diff in a Change: what an answer can carry.
func diffLimits() *textedit.DiffOptions { return &textedit.DiffOptions{MaxLines: 400, MaxLine: 500} }

func editDiff(before, after string, edited *textedit.Change) change.PathDiff {
	return change.PathDiff{Old: before, New: after, Hunks: edited.Diff(diffLimits())}
}

// diffOf compares whole contents; binary ones by name only. An empty name is a
// file that isn't there.
func diffOf(before, after string, old, new []byte, opts *textedit.DiffOptions) change.PathDiff {
	d := change.PathDiff{Old: before, New: after}
	a, errA := textfile.New(old)
	b, errB := textfile.New(new)
	switch {
	case errA != nil || errB != nil:
		d.Kind = change.DiffBinary
	case a.Encoding() == b.Encoding() && a.Encoding().IsUTF8():
		d.Hunks = textedit.DiffTexts(old, new, opts)
	default:
		d.Hunks = textedit.DiffTexts(a.Text(), b.Text(), opts)
	}
	return d
}

// did notes what a change does, in the caller's words if there are any.
func did(c *change.Change, a change.Action, o change.Options) {
	if o.Summary != "" {
		a = change.Action{Verb: change.Noted, Text: o.Summary}
	}
	c.Did, c.Summary = a, a.String()
	c.Client = o.Client
}

// showDiff gives a change its diff.
func showDiff(c *change.Change, diffs ...change.PathDiff) {
	c.Diffs, c.Diff = diffs, change.JoinDiffs(diffs)
}

// editAction is what an edit did.
func editAction(c *change.Change) change.Action {
	if len(c.Edits) != 1 {
		return change.Action{Verb: change.Edited, Path: c.Paths[0], Count: len(c.Edits)}
	}
	e := c.Edits[0]
	return change.Action{Verb: e.Kind, Path: c.Paths[0], Count: e.Count, Line: e.Line}
}
