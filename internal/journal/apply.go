package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"quarry/fault"
	"quarry/internal/rootfs"
	"quarry/internal/rootfs/version"
)

var (
	errNoPlan    = errors.New("only the operations of an undo can be applied")
	errTrashWork = errors.New("operations on the trash are not applied here")
	errStepRange = errors.New("no such operation")
)

// Apply carries out the i-th operation of an undo. Trash and Restore are not included:
// the caller carries them out. Apply never overwrites. It removes a file only if its
// version is the expected one, and a folder only if it is empty.
func (tx *Tx) Apply(ctx context.Context, ws *rootfs.Root, i int) error {
	switch {
	case tx.plan == nil:
		return errNoPlan
	case i < 0 || i >= len(tx.plan.Change.Ops):
		return errStepRange
	}
	op := tx.plan.Change.Ops[i]
	switch op.Kind {
	case Create:
		return tx.recreate(ctx, ws, op)
	case Replace:
		if back := tx.plan.back[i]; back != nil {
			_, err := ws.Splice(op.Path, back, op.Old, &rootfs.ReplaceOptions{Want: op.New})
			if rootfs.KindOf(err) == fault.InvalidArgument {
				return fmt.Errorf("%w: %w", ErrDamaged, err)
			}
			return err
		}
		if after, err := spliced(op.OldData, op.Edits); err == nil && op.OldData != nil && op.Edits != nil && version.Of(after) == op.New {
			_, err := ws.Splice(op.Path, op.Edits, op.Old, &rootfs.ReplaceOptions{Old: op.OldData, Want: op.New})
			return err
		}
		_, err := ws.Rewrite(op.Path, tx.plan.src.edits(tx.plan.target[i], op.New), op.Old, nil)
		return err
	case Rename:
		return ws.Rename(op.Path, op.To)
	case Remove:
		return removeNodes(ctx, ws, op)
	case Chmod:
		return ws.SetMode(op.Path, op.Mode, op.NewMode)
	}
	return errTrashWork
}

// recreate restores a removed tree. It sets the mode and time of a folder after creating
// its content.
func (tx *Tx) recreate(ctx context.Context, ws *rootfs.Root, op Op) error {
	for _, n := range op.Nodes {
		if err := checkCtx(ctx); err != nil {
			return err
		}
		p, err := join(op.Path, n.Rel)
		if err != nil {
			return err
		}
		switch n.Type {
		case rootfs.TypeDir:
			err = ws.Mkdir(p)
		case rootfs.TypeSymlink:
			err = ws.Symlink(n.Target, p)
		case rootfs.TypeFile:
			err = tx.recreateFile(ws, p, n)
		default:
			err = fmt.Errorf("%s: %w", fault.Printable(p.String()), fault.NotRegular)
		}
		if err != nil {
			return err
		}
	}
	for _, n := range slices.Backward(op.Nodes) {
		if n.Type != rootfs.TypeDir || n.ModTime.IsZero() {
			continue
		}
		p, err := join(op.Path, n.Rel)
		if err != nil {
			return err
		}
		if err := ws.SetMeta(p, n.Mode, n.ModTime); err != nil {
			return err
		}
	}
	return nil
}

func (tx *Tx) recreateFile(ws *rootfs.Root, p rootfs.Path, n Node) error {
	in, err := tx.plan.src.open(n.at, n.Version)
	if err != nil {
		return err
	}
	// The original owner is unknown: setuid or setgid could grant another user's rights.
	_, err = ws.CreateFunc(p, &rootfs.CreateOptions{Mode: n.Mode &^ (fs.ModeSetuid | fs.ModeSetgid)}, func(w *rootfs.Writer) error {
		if _, err := io.Copy(w, in); err != nil {
			return err
		}
		if n.ModTime.IsZero() {
			return nil
		}
		return w.SetModTime(n.ModTime)
	})
	return err
}

// removeNodes removes the entries that a change made, innermost first.
func removeNodes(ctx context.Context, ws *rootfs.Root, op Op) error {
	for _, n := range slices.Backward(op.Nodes) {
		if err := checkCtx(ctx); err != nil {
			return err
		}
		p, err := join(op.Path, n.Rel)
		if err != nil {
			return err
		}
		have, err := look(ws, p)
		if err != nil {
			return err
		}
		if !cellOf(n).accepts(have) {
			return conflict(p)
		}
		if err := ws.Remove(p); err != nil {
			return err
		}
	}
	return nil
}
