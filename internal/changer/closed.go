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

// staysClosed refuses a move of a folder that would take files out of the policy's
// reach: if docs/private is denied, docs can't become docs2. Files that are denied by
// name remain denied and may move.
func (w *Changer) staysClosed(ctx context.Context, from, to rootfs.Path) error {
	if p := w.root.Policy(); !p.ByPlace() && (p == nil || !policy.ByFolder(from.Base()) && !policy.InTrash(from.String())) {
		return nil
	}
	opens, err := w.opens(ctx, from, to)
	if err == nil && opens {
		err = holdsClosed(from)
	}
	return err
}

// opens reports whether a denied file in from would not be denied in to.
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
		case p.Path(a.String(), isDir).Refused(), !isDir && p.ByContent(a.String()):
			if !p.Path(b.String(), isDir).Refused() && (isDir || !p.ByContent(b.String())) {
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

// allOpen refuses to delete a folder that contains files this workspace may not change.
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
	return err // the error may name .git and similar files
}

// holdsClosed does not name the denied file, since the name is secret too.
func holdsClosed(dir rootfs.Path) error {
	return fault.New(fault.ProtectedPath, fmt.Sprintf("%s holds something that may not be accessed, so it can't be moved or deleted as a whole", strconv.QuoteToGraphic(dir.String())),
		"move or delete what may be accessed, one by one")
}

// hidden reports which entries affect files that the policy of this workspace hides: a
// person or another client may have changed secret or denied files. Entries on a file that
// was later moved to a hidden path count too, so the list begins with the newest of the
// log. The first entries only serve to follow moves, and get no result.
func (w *Changer) hidden(entries []journal.Entry, first int) []bool {
	hides := make([]bool, len(entries))
	if w.root.Policy() == nil {
		return hides
	}
	var moved []rootfs.Path // older names of files that are hidden now
	gone := func(p rootfs.Path) bool { return slices.ContainsFunc(moved, p.Beneath) }
	for i, e := range entries {
		for k, op := range slices.Backward(e.Ops) {
			hides[i] = hides[i] || i >= first && (w.hides(op) || gone(op.Path) || w.keepsSecret(e, k))
			switch {
			case e.Status != journal.Committed:
			case op.Kind == journal.Rename:
				for _, m := range moved {
					if from, err := journal.Rebase(m, op.To, op.Path); err == nil && m.Beneath(op.To) {
						moved = append(moved, from)
					}
				}
				if gone(op.To) || w.closed(op.To) {
					moved = append(moved, op.Path)
				}
			case op.Kind == journal.Create && e.Undoes == "":
				moved = slices.DeleteFunc(moved, func(p rootfs.Path) bool { return p == op.Path })
			}
		}
	}
	return hides
}

// hides reports whether an operation names a hidden path.
func (w *Changer) hides(op journal.Op) bool {
	return w.closedPath(op.Path) || op.Kind == journal.Rename && w.closedPath(op.To) || slices.ContainsFunc(op.Nodes, func(n journal.Node) bool {
		return n.Rel != "" && w.root.Policy().Path(op.Path.String()+"/"+n.Rel, n.Type == rootfs.TypeDir).Refused()
	})
}

// closedPath reports whether a path is denied. A folder whose files are all denied counts
// as denied.
func (w *Changer) closedPath(path rootfs.Path) bool {
	p := w.root.Policy()
	return p.Path(path.String(), false).Refused() || p.Path(path.String()+"/\x01", false).Refused()
}

// closed reports whether a file is unreadable because of its path or its content.
func (w *Changer) closed(path rootfs.Path) bool {
	if w.closedPath(path) || !w.root.Policy().ByContent(path.String()) {
		return w.closedPath(path)
	}
	f, err := w.root.OpenFile(path)
	if err == nil {
		f.Close()
	}
	return fault.CodeOf(err) == fault.ProtectedPath
}

// keepsSecret reports whether an operation found or left, or may have found or left, a
// credential in a file that is judged by its content.
func (w *Changer) keepsSecret(e journal.Entry, i int) bool {
	op := e.Ops[i]
	if !w.root.Policy().ByContent(op.Path.String()) || op.Kind != journal.Replace && len(op.Nodes) > 0 && op.Nodes[0].Type != rootfs.TypeFile {
		return false
	}
	switch op.Kind {
	case journal.Trash:
		return policy.IsSecretText(w.binned(op))
	case journal.Create, journal.Remove, journal.Replace:
		if w.large(e, i) {
			return true
		}
		old, data, err := w.contents(e, i)
		return err != nil || policy.IsSecretText(old) || policy.IsSecretText(data)
	}
	return false
}

// errHidden is returned for undoing or showing such a change: its names are secrets too.
var errHidden = fault.New(fault.ProtectedPath, "this change touches files that are not shown here", "the workspace's owner can undo it with quarry undo")

// undoKeepsClosed refuses a plan that would move folders out of the policy's reach, or
// delete denied files: an undo may do no more than a move or a deletion.
func (w *Changer) undoKeepsClosed(ctx context.Context, ops []journal.Op) error {
	for _, op := range ops {
		if op.Kind != journal.Rename && op.Kind != journal.Trash && op.Kind != journal.Remove {
			continue
		}
		info, err := w.root.Stat(op.Path)
		if err != nil || info.Type != rootfs.TypeDir {
			continue // it is missing: the plan is refused for that reason
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
