package quarry

import (
	"context"
	"errors"
	"fmt"

	"quarry/internal/journal"
	"quarry/internal/rootfs"
	"quarry/internal/textedit"
	"quarry/internal/textfile"
)

// Edit changes parts of a text file. All edits are found in the file as it is
// and made at once; if one can't be, none is. Every byte outside the spans they
// name stays, and so do encoding, mode, owner and extended attributes. New text
// takes the file's encoding and line ending.
func (w *Workspace) Edit(ctx context.Context, path string, edits []Edit, opts *ChangeOptions) (*Change, error) {
	if len(edits) == 0 {
		return nil, fmt.Errorf("edit %s: %w", rootfs.Printable(path), ErrNoEdits)
	}
	o := opts.get()
	return w.modify(ctx, path, o.tool("edit"), "", o, func(*textfile.Document) ([]Edit, error) { return edits, nil })
}

// ErrNoEdits is for an Edit without edits.
var ErrNoEdits = errors.New("there is nothing to do: no edit was given")

// modify is Edit for edits that are worked out from the text. label, when not
// "", is what the one edit is called.
func (w *Workspace) modify(ctx context.Context, path, tool, label string, o ChangeOptions, plan func(*textfile.Document) ([]Edit, error)) (*Change, error) {
	if w.elsewhere != nil {
		return w.inCheckout(ctx, path, func(ws *Workspace, rel string) (*Change, error) {
			return ws.modify(ctx, rel, tool, label, o, plan)
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
	if label != "" {
		c.Edits[0].Kind = label
	}
	c.Summary = editSummary(c)
	c.Size, c.Unchanged = edited.Size(), edited.Empty()
	c.Diff = edited.Diff(diffOptions(p.String(), p.String()))
	if edited.TurnsBinary {
		c.Warnings = append(c.Warnings, "the file will count as binary: the edit moves a NUL into its first 64 KiB")
	}
	if c.Unchanged {
		c.Version = sum.Version().String()
		return c, nil
	}
	s := w.spliceStep(p, sum, data, edited, c.Diff)
	c.Version = s.op.New.String()
	if o.DryRun {
		return c, nil
	}
	return settled(c, w.carryOut(ctx, c, []step{s}))
}

// planEdits reads the file as text and works the edits out.
func planEdits(p rootfs.Path, data []byte, plan func(*textfile.Document) ([]Edit, error)) ([]Edit, *textedit.Change, error) {
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

// ErrBadVersion is for text that can't be the version of a file.
var ErrBadVersion = errors.New("expected version")

// VersionError is the cause of a conflict with an expected version.
type VersionError struct {
	Have string // "" when the file is gone, or new
	Want string
}

func (e *VersionError) Error() string {
	if e.Have == "" {
		return "there is no such file any more"
	}
	return "its version is " + e.Have
}

// spliceStep gives the file at p the content of an edit, provided it is still
// the version that was read. shown is the edit as a diff.
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

func outcomes(edits []Edit, done []textedit.Outcome) []EditOutcome {
	out := make([]EditOutcome, len(done))
	for i, d := range done {
		out[i] = EditOutcome{Count: d.Count, Line: d.Line, Remaining: d.Remaining, RemainingLines: d.RemainingLines}
		switch edits[i].(type) {
		case InsertAfter:
			out[i].Kind = "insert"
		case InsertBefore:
			out[i].Kind, out[i].Before = "insert", true
		case DeleteLines:
			out[i].Kind = "delete"
		default:
			out[i].Kind = "replace"
		}
	}
	return out
}

// diffOptions caps the diff in a Change: what an answer can carry.
func diffOptions(before, after string) *textedit.DiffOptions {
	return &textedit.DiffOptions{Old: before, New: after, MaxLines: 400, MaxLine: 500}
}

// diffOf compares whole contents; binary ones by name only. An empty name is a
// file that isn't there.
func diffOf(before, after string, old, new []byte, opts *textedit.DiffOptions) string {
	a, errA := textfile.New(old)
	b, errB := textfile.New(new)
	if errA != nil || errB != nil {
		return fmt.Sprintf("Binary files %s and %s differ\n", diffName("a/", before), diffName("b/", after))
	}
	if a.Encoding() == b.Encoding() && a.Encoding().IsUTF8() {
		return textedit.DiffTexts(old, new, opts)
	}
	return textedit.DiffTexts(a.Text(), b.Text(), opts)
}

func diffName(prefix, name string) string {
	if name == "" {
		return "/dev/null"
	}
	return prefix + name
}
