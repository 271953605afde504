package changer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/rootfs"
	"quarry/internal/textedit"
	"quarry/internal/textfile"
)

// edit plans the edits of the text file at path; shown is its name in the answer. All
// edits refer to the present content. Bytes outside the edited spans do not change, and
// neither do encoding, mode, owner and extended attributes.
func (p *planner) edit(ctx context.Context, t *task, path, shown rootfs.Path) error {
	file, err := p.open(ctx, path)
	if err != nil {
		return err
	}
	if t.Executable != nil {
		if err := p.mode(t, path, shown); err != nil {
			return err
		}
	}
	p.versions[t.index] = file.Version().String()
	extra := p.relinks[path.String()]
	edits := t.Edits
	if file.isBlob(t.Blob) {
		edits = slices.Clone(edits)
		for i := range edits {
			edits[i].Certain = true
		}
	}
	if len(edits)+len(extra) == 0 {
		return p.modeAlone(t, path, file.Version())
	}
	edited, err := p.planEdits(file, edits, extra)
	// Check the version first: if the file was changed, that is why the edit fails.
	if t.Version != "" {
		if err := checkVersion(path, file.Version(), t.Version); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	c := p.c
	c.Edits = outcomes(t.Edits, edited.Outcomes)
	for _, e := range c.Edits {
		if e.Note != "" {
			c.Warnings = append(c.Warnings, fmt.Sprintf("%s:%d: %s", fault.Printable(path.String()), e.Line, e.Note))
		}
	}
	c.Size, c.Version = edited.Size(), file.Version().String()
	diff := editDiff(path.String(), shown.String(), edited, p.limits())
	p.show(diff)
	if edited.TurnsBinary {
		c.Warnings = append(c.Warnings, "the file will count as binary: the edit moves a NUL into its first 64 KiB")
	}
	if !edited.Empty() {
		s, err := file.step(p.w, edited, diff.Hunks)
		if err != nil {
			return err
		}
		c.Version = s.op.New.String()
		if err := p.content(file.info, s); err != nil {
			return err
		}
	}
	if t.Verb == change.EditFile {
		p.did = editAction(path.String(), t.Edits, c.Edits)
		p.file(t, change.File{Path: path.String(), Did: change.Edited, Version: c.Version}, diff)
	}
	return nil
}

// planEdits reads the file as text and computes the result of edits, and of extra, the
// edits that a move requires.
func (pl *planner) planEdits(file *source, edits, extra []change.Edit) (*textedit.Change, error) {
	doc, err := file.Text()
	if err != nil {
		return nil, err
	}
	if len(extra) > 0 || slices.ContainsFunc(edits, func(e change.Edit) bool { return e.Verb >= change.AppendText }) {
		all := append(slices.Clone(edits), extra...)
		for i, e := range all {
			all[i] = atEnd(doc, e)
		}
		edits = all
	}
	edited, err := textedit.ApplyTo(file.path.String(), doc, cmp.Or(pl.w.opts.MaxSize, textedit.DefaultMaxSize), &pl.effort, edits...)
	if err != nil {
		return nil, fmt.Errorf("edit %s: %w", fault.Printable(file.path.String()), err)
	}
	return edited, nil
}

// atEnd returns the edit that appends text. It adds a line break if the last line lacks
// one and the text does not begin with one.
func atEnd(doc *textfile.Text, e change.Edit) change.Edit {
	if e.Verb != change.AppendText {
		return e
	}
	end, content := doc.Len(), e.New
	open := end > 0 && !doc.Terminated()
	if open && content != "" && !strings.HasPrefix(content, "\n") && !strings.HasPrefix(content, "\r\n") {
		content = "\n" + content
	}
	return change.Edit{Verb: change.ReplaceSpan, Start: end, End: end, New: content}
}

// document reads a file's bytes as text.
func document(p rootfs.Path, data []byte) (*textfile.Document, error) {
	doc, err := textfile.New(data)
	var binary *textfile.BinaryError
	if errors.As(err, &binary) {
		return nil, fmt.Errorf("%s: %w", p, err)
	}
	return doc, err
}

// checkVersion returns an error if the file's version is not the expected one.
func checkVersion(p rootfs.Path, have rootfs.Version, expected string) error {
	if expected == "" {
		return nil
	}
	same, err := have.Is(expected)
	if err != nil {
		return fmt.Errorf("%w: %w", errBadVersion, err)
	}
	if !same {
		return &fault.PathError{Op: "edit", Path: p.String(), Kind: fault.Conflict, Err: &change.VersionError{Have: have.String(), Want: expected}}
	}
	return nil
}

func outcomes(edits []change.Edit, done []textedit.Outcome) []change.Outcome {
	out := make([]change.Outcome, len(edits))
	for i, d := range done[:len(edits)] {
		out[i] = change.Outcome{Kind: change.Replaced, Count: d.Count, Line: d.Line, Remaining: d.Remaining, RemainingLines: d.RemainingLines, Note: d.Note}
		switch edits[i].Verb {
		case change.InsertAfter:
			out[i].Kind = change.Inserted
		case change.InsertBefore:
			out[i].Kind, out[i].Before = change.Inserted, true
		case change.DeleteLines:
			out[i].Kind = change.DeletedLines
		case change.AppendText:
			out[i].Kind = change.Appended
		case change.SetValue, change.DeleteValue, change.RenameKey:
			out[i].Kind = change.Valued
		}
	}
	return out
}

// diffLimits limits the diff in a Change to a size suitable for an answer.
func diffLimits() *textedit.DiffOptions { return &textedit.DiffOptions{MaxLines: 400, MaxLine: 500} }

// fullDiff returns the limits for a user who decides about a change and must see all of
// it. Unless all is set, long lines are cut and marked.
func fullDiff(all bool) *textedit.DiffOptions {
	if all {
		return &textedit.DiffOptions{MaxLines: -1, MaxLine: -1}
	}
	return &textedit.DiffOptions{MaxLines: 20_000, MaxLine: 100_000}
}

func editDiff(before, after string, edited *textedit.Change, limits *textedit.DiffOptions) change.PathDiff {
	d := change.PathDiff{Old: before, New: after}
	d.Hunks, d.Cut = edited.DiffCut(limits)
	return d
}

// diffOf compares two whole contents. For binary ones it returns only the names. An empty
// name means that the file doesn't exist.
func diffOf(before, after string, old, new []byte, opts *textedit.DiffOptions) change.PathDiff {
	d := change.PathDiff{Old: before, New: after}
	a, errA := textfile.New(old)
	b, errB := textfile.New(new)
	switch {
	case errA != nil || errB != nil:
		d.Kind = change.DiffBinary
	default:
		d.Hunks, d.Cut = textedit.DiffLarge(textfile.InMemory(a), textfile.InMemory(b), opts)
	}
	return d
}

// editAction summarizes edits. The old text of a ReplaceText alone is counted in occurrences.
func editAction(path string, edits []change.Edit, done []change.Outcome) change.Action {
	if len(edits) != 1 || done[0].Kind == change.Replaced && edits[0].Verb != change.ReplaceText {
		return change.Action{Verb: change.Edited, Path: path, Count: len(edits)}
	}
	return change.Action{Verb: done[0].Kind, Path: path, Count: done[0].Count, Line: done[0].Line}
}
