package changer

import (
	"context"
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
	p := w.root.Policy()
	if !p.ByPlace() {
		return nil
	}
	return w.below(ctx, from, "", func(rel string, isDir bool, before policy.Verdict) error {
		if before.Refused() && !p.Path(to.String()+rel, isDir).Refused() {
			return holdsClosed(from)
		}
		return nil
	})
}

// allOpen refuses to delete a folder that has something that this workspace may
// not change.
func (w *Changer) allOpen(ctx context.Context, dir rootfs.Path) error {
	return w.below(ctx, dir, "", func(rel string, _ bool, v policy.Verdict) error {
		switch {
		case v == policy.Protected: // its name is no secret
			return &rootfs.Error{Op: "delete", Path: dir.String(), Kind: rootfs.Protected, Rule: v.String(), Name: policy.ProtectedFolder(dir.String() + rel)}
		case v.Refused():
			return holdsClosed(dir)
		}
		return nil
	})
}

// holdsClosed does not name the denied file, since the name is secret too.
func holdsClosed(dir rootfs.Path) error {
	return fault.New(fault.ProtectedPath, fmt.Sprintf("%s holds something that may not be accessed, so it can't be moved or deleted as a whole", strconv.QuoteToGraphic(dir.String())),
		"move or delete what may be accessed, one by one")
}

// below visits everything below a folder, without denied folders; rel begins with
// a slash.
func (w *Changer) below(ctx context.Context, top rootfs.Path, rel string, visit func(rel string, isDir bool, v policy.Verdict) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	dir, err := w.root.Known(top.String() + rel)
	if err != nil {
		return err
	}
	d, err := w.root.OpenDir(dir)
	if err != nil {
		return err
	}
	entries, err := d.Read(nil)
	d.Close()
	if err != nil {
		return err
	}
	for _, e := range entries {
		child, isDir := rel+"/"+e.Name, e.Type == rootfs.TypeDir
		v := w.root.Policy().Path(top.String()+child, isDir)
		if err := visit(child, isDir, v); err != nil {
			return err
		}
		if isDir && !v.Refused() {
			if err := w.below(ctx, top, child, visit); err != nil {
				return err
			}
		}
	}
	return nil
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
