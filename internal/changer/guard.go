package changer

import (
	"context"
	"errors"

	"quarry/fault"
	"quarry/internal/journal"
	"quarry/internal/policy"
	"quarry/internal/rootfs"
)

// maxGuarded is the size of the largest file that a guard checks.
const maxGuarded = 4 << 20

var errGuarded = fault.New(fault.ProtectedPath, "the file decides how programs are started, and what the change would leave there can't be checked",
	"a person can make or undo the change at the command line")

// errCredential refuses content with a credential. No tool could read or undo it
// afterwards.
var errCredential = fault.New(fault.ProtectedPath, "the file would hold a credential, and such files are the owner's",
	"let the value come from outside, as ${TOKEN}, or ask a person to write it")

// judgeOf returns the function that checks a file's content before and after a change. It
// is nil for most files.
func (w *Changer) judgeOf(path string) func(before, after []byte) error {
	if w.root.Policy().ByContent(path) {
		return func(_, after []byte) error {
			if policy.HoldsCredential(after) {
				return errCredential
			}
			return nil
		}
	}
	if w.opts.Guard == nil {
		return nil
	}
	return w.opts.Guard(path)
}

// guarded checks the operations of a change against the policy and Options.Guard, before
// the first of them is carried out.
func (w *Changer) guarded(ctx context.Context, ops []journal.Op) error {
	if w.opts.Guard == nil && w.root.Policy() == nil {
		return nil
	}
	for i := range ops {
		if err := w.guardOp(ctx, &ops[i]); err != nil {
			return err
		}
	}
	return nil
}

func (w *Changer) guardOp(ctx context.Context, op *journal.Op) error {
	switch op.Kind {
	case journal.Chmod:
		return nil
	case journal.Rename:
		return w.guardTree(ctx, op.Path, op.To.String())
	case journal.Remove, journal.Trash:
		return w.guardTree(ctx, op.Path, "")
	}
	// Create, Replace and Restore. An undo that restores a tree lists its files as nodes.
	for _, n := range op.Nodes {
		p := op.Path.String()
		if n.Rel != "" {
			p += "/" + n.Rel
		}
		if n.Type != rootfs.TypeDir && n.Rel != "" && w.opts.Guard != nil && w.opts.Guard(p) != nil {
			return errGuarded
		}
	}
	judge := w.judgeOf(op.Path.String())
	if judge == nil || len(op.Nodes) > 0 && op.Nodes[0].Type == rootfs.TypeDir {
		return nil
	}
	var before []byte
	if op.Kind == journal.Replace {
		var err error
		if before, _, _, err = w.root.ReadFile(op.Path, maxGuarded); err != nil {
			return unjudged(err)
		}
	}
	after := op.NewData
	if after == nil {
		if w.root.Policy().ByContent(op.Path.String()) && (op.Kind != journal.Replace || op.Edits == nil) {
			return nil // an undo, and its content was readable before
		}
		if op.Kind != journal.Replace || op.Edits == nil {
			return errGuarded // an undo, whose content is only in the journal
		}
		var err error
		if after, err = applied(before, op.Edits); err != nil {
			return err
		}
	}
	return judge(before, after)
}

// unjudged returns the error that refuses a change of a file that could not be read for a
// check.
func unjudged(err error) error {
	if rootfs.KindOf(err) == fault.ProtectedPath {
		return err
	}
	return errors.Join(errGuarded, err)
}

// applied returns before with the edits applied, which must be sorted.
func applied(before []byte, edits []rootfs.Edit) ([]byte, error) {
	after, at := []byte{}, int64(0)
	for _, e := range edits {
		if e.Off < at || e.Off+e.Len > int64(len(before)) {
			return nil, errGuarded
		}
		after = append(append(after, before[at:e.Off]...), e.Data...)
		at = e.Off + e.Len
	}
	return append(after, before[at:]...), nil
}

// guardTree checks each file at or below p that is moved to the path to, or deleted if to
// is empty. It reads only files that have a guard.
func (w *Changer) guardTree(ctx context.Context, p rootfs.Path, to string) error {
	info, err := w.root.Stat(p)
	if err != nil {
		return nil // the step itself reports the error
	}
	switch info.Type {
	case rootfs.TypeFile:
		return w.guardFile(p, to)
	case rootfs.TypeDir:
	default:
		return nil
	}
	d, err := w.root.OpenDir(p)
	if err != nil {
		return err
	}
	defer d.Close()
	return w.guardDir(ctx, d, p, to)
}

// guardDir checks the entries of a folder as guardTree does. Subfolders are opened from
// their parent, because opening one at depth n by path takes n steps: 3,000 nested
// folders took a second.
func (w *Changer) guardDir(ctx context.Context, d *rootfs.Dir, p rootfs.Path, to string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := d.Read(nil)
	if err != nil {
		return err
	}
	for _, e := range entries {
		below, err := p.Child(e.Name)
		if err != nil {
			return err
		}
		next := to
		if to != "" {
			next += "/" + e.Name
		}
		switch e.Type {
		case rootfs.TypeFile:
			err = w.guardFile(below, next)
		case rootfs.TypeDir:
			var sub *rootfs.Dir
			sub, err = d.OpenDir(e.Name)
			switch kind := rootfs.KindOf(err); {
			case err == nil:
				err = w.guardDir(ctx, sub, below, next)
				sub.Close()
			case kind == fault.ProtectedPath || kind == fault.NotFound:
				err = nil // the step itself will report the error
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *Changer) guardFile(p rootfs.Path, to string) error {
	here := w.judgeOf(p.String())
	var there func(before, after []byte) error
	if to != "" {
		there = w.judgeOf(to)
	}
	if here == nil && there == nil {
		return nil
	}
	data, _, _, err := w.root.ReadFile(p, maxGuarded)
	if err != nil {
		return unjudged(err)
	}
	if here != nil {
		if err := here(data, nil); err != nil {
			return err
		}
	}
	if there != nil {
		return there(nil, data)
	}
	return nil
}
