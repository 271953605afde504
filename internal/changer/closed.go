package changer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"quarry/fault"
	"quarry/internal/journal"
	"quarry/internal/policy"
	"quarry/internal/rootfs"
)

// staysClosed refuses a move of a folder that would remove something from the
// reach of the policy: if docs/private is denied, docs can't become docs2. Files
// that are denied by name stay denied and may move.
func (w *Changer) staysClosed(ctx context.Context, from, to rootfs.Path) error {
	if p := w.root.Policy(); !p.ByPlace() && (p == nil || !policy.ByFolder(from.Base())) {
		return nil
	}
	opens, err := w.opens(ctx, from, to)
	if err == nil && opens {
		err = holdsClosed(from)
	}
	return err
}

// opens reports whether something in from is denied, and would not be in to.
func (w *Changer) opens(ctx context.Context, from, to rootfs.Path) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	entries, err := w.root.List(from)
	if err != nil {
		return false, err
	}
	p := w.root.Policy()
	for _, e := range entries {
		a, errA := from.Child(e.Name)
		b, errB := to.Child(e.Name)
		if err := errors.Join(errA, errB); err != nil {
			return false, err
		}
		isDir := e.Type == rootfs.TypeDir
		switch {
		case p.Path(a.String(), isDir).Refused():
			if !p.Path(b.String(), isDir).Refused() {
				return true, nil
			}
		case isDir:
			if opens, err := w.opens(ctx, a, b); opens || err != nil {
				return opens, err
			}
		}
	}
	return false, nil
}

// allOpen refuses to delete a folder that has something that this workspace may
// not change.
func (w *Changer) allOpen(ctx context.Context, dir rootfs.Path) error {
	d, err := w.root.OpenDir(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	err = d.Vet(ctx, "delete")
	var refusal *fault.PathError
	if errors.As(err, &refusal) && refusal.Kind == fault.ProtectedPath && refusal.Rule != policy.Protected.String() {
		return holdsClosed(dir)
	}
	return err // it may name .git and its like
}

// holdsClosed does not name the denied file, since the name is secret too.
func holdsClosed(dir rootfs.Path) error {
	return fault.New(fault.ProtectedPath, fmt.Sprintf("%s holds something that may not be accessed, so it can't be moved or deleted as a whole", strconv.QuoteToGraphic(dir.String())),
		"move or delete what may be accessed, one by one")
}

// hidden reports whether an entry affects files that the policy of this workspace
// hides: a person or another client may have changed secret or denied files. A
// folder all of whose files are denied counts as denied.
func (w *Changer) hidden(e journal.Entry) bool {
	p := w.root.Policy()
	closed := func(path string) bool { return p.Path(path, false).Refused() || p.Path(path+"/\x01", false).Refused() }
	return slices.ContainsFunc(e.Paths(), func(path rootfs.Path) bool { return closed(path.String()) }) ||
		slices.ContainsFunc(e.Ops, func(op journal.Op) bool {
			return slices.ContainsFunc(op.Nodes, func(n journal.Node) bool {
				return n.Rel != "" && p.Path(op.Path.String()+"/"+n.Rel, n.Type == rootfs.TypeDir).Refused()
			})
		})
}

// errHidden refuses to undo or show such a change: its names are secrets too.
var errHidden = fault.New(fault.ProtectedPath, "this change touches files that are not shown here", "the workspace's owner can undo it with quarry undo")

// undoKeepsClosed refuses a plan that would move folders out of the reach of the
// policy, or delete denied files: an undo may do no more than a move or a
// deletion.
func (w *Changer) undoKeepsClosed(ctx context.Context, ops []journal.Op) error {
	for _, op := range ops {
		if op.Kind != journal.Rename && op.Kind != journal.Trash && op.Kind != journal.Remove {
			continue
		}
		info, err := w.root.Stat(op.Path)
		if err != nil || info.Type != rootfs.TypeDir {
			continue // not there: the plan is refused for that
		}
		if op.Kind == journal.Rename {
			err = w.staysClosed(ctx, op.Path, op.To)
		} else {
			err = w.allOpen(ctx, op.Path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
