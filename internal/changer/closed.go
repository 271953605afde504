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

// staysClosed refuses to move a folder if files that the policy denies by path would
// become accessible: while docs/private is denied, docs can't become docs2. Files that
// are denied by name may move, because they remain denied.
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

// holdsClosed returns an error that does not name the denied file, because the name is
// secret too.
func holdsClosed(dir rootfs.Path) error {
	return fault.New(fault.ProtectedPath, fmt.Sprintf("%s holds something that may not be accessed, so it can't be moved or deleted as a whole", strconv.QuoteToGraphic(dir.String())),
		"move or delete what may be accessed, one by one")
}

// hidden reports for each entry from first on whether it affects files that this
// workspace's policy hides. A user or another client may have changed them. An entry also
// counts if its file was later moved to a hidden path. Therefore entries begins with the
// newest one in the log; those before first only serve to follow moves and get no result.
func (w *Changer) hidden(entries []journal.Entry, first int) []bool {
	hides := make([]bool, len(entries))
	if w.root.Policy() == nil {
		return hides
	}
	var moved []rootfs.Path // earlier names of files that are hidden now
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

// hides reports whether the policy hides a path of an operation.
func (w *Changer) hides(op journal.Op) bool {
	return w.closedPath(op.Path) || op.Kind == journal.Rename && w.closedPath(op.To) || slices.ContainsFunc(op.Nodes, func(n journal.Node) bool {
		return n.Rel != "" && w.root.Policy().Path(op.Path.String()+"/"+n.Rel, n.Type == rootfs.TypeDir).Refused()
	})
}

// closedPath reports whether the policy denies a path, or all paths in the folder path.
func (w *Changer) closedPath(path rootfs.Path) bool {
	p := w.root.Policy()
	return p.Path(path.String(), false).Refused() || p.Path(path.String()+"/\x01", false).Refused()
}

// closed reports whether the policy denies a file because of its path or content.
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

// keepsSecret reports whether the content before or after e.Ops[i] contains a credential,
// in a file that the policy checks by content. If a content is not kept, it reports true.
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

// errHidden is returned for an undo or a diff of a change that affects hidden files. It
// contains no names, because they are secret too.
var errHidden = fault.New(fault.ProtectedPath, "this change touches files that are not shown here", "the workspace's owner can undo it with quarry undo")

// undoKeepsClosed refuses an undo that would make denied files accessible by moving their
// folder, or delete them. An undo may do no more than a move or a deletion.
func (w *Changer) undoKeepsClosed(ctx context.Context, ops []journal.Op) error {
	for _, op := range ops {
		if op.Kind != journal.Rename && op.Kind != journal.Trash && op.Kind != journal.Remove {
			continue
		}
		info, err := w.root.Stat(op.Path)
		if err != nil || info.Type != rootfs.TypeDir {
			continue // missing; the plan will be refused for that
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
