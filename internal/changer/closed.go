package changer

import (
	"context"

	"quarry/internal/rootfs"
)

// staysClosed refuses a move of a folder that would take something from under
// the owner's rules: with docs/private denied, docs can't become docs2. What is
// closed by its name alone moves along and stays closed.
func (w *Changer) staysClosed(ctx context.Context, from, to rootfs.Path) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	d, err := w.root.OpenDir(from)
	if err != nil {
		return err
	}
	entries, err := d.Read(nil)
	d.Close()
	if err != nil {
		return err
	}
	policy := w.root.Policy()
	for _, e := range entries {
		a, err := from.Child(e.Name)
		if err != nil {
			return err
		}
		b, err := to.Child(e.Name)
		if err != nil {
			return err
		}
		isDir := e.Type == rootfs.TypeDir
		before, after := policy.Path(a.String(), isDir), policy.Path(b.String(), isDir)
		switch {
		case before.Refused() && !after.Refused():
			return &rootfs.Error{Op: "move", Path: a.String(), Kind: rootfs.Protected, Rule: before.String(), Name: e.Name}
		case before.Refused() || !isDir:
		default:
			if err := w.staysClosed(ctx, a, b); err != nil {
				return err
			}
		}
	}
	return nil
}
