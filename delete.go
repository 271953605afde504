package quarry

import (
	"context"
	"errors"
	"slices"

	"quarry/change"
	"quarry/internal/journal"
	"quarry/internal/rootfs"
)

// Delete deletes a file, a symlink, or a folder with everything in it: into the
// trash, unless the options, the workspace's or the vault's settings say
// otherwise.
func (w *Workspace) Delete(ctx context.Context, path string, opts *DeleteOptions) (*Change, error) {
	if w.elsewhere != nil {
		return w.inCheckout(ctx, path, func(ws *Workspace, rel string) (*Change, error) { return ws.Delete(ctx, rel, opts) })
	}
	if opts == nil {
		opts = &DeleteOptions{}
	}
	if err := w.changeable("delete"); err != nil {
		return nil, err
	}
	kind, err := w.trashKind(opts.Trash)
	if err != nil {
		return nil, err
	}
	p, err := w.root.ResolveEntry(path)
	if err != nil {
		return nil, err
	}
	if p.IsRoot() {
		return nil, &rootfs.Error{Op: "delete", Path: path, Kind: rootfs.InvalidArgument, Err: errRootFolder}
	}
	unlock, err := w.state.locks.lock(ctx, p)
	if err != nil {
		return nil, err
	}
	defer unlock()
	info, err := w.root.Stat(p)
	if err != nil {
		return nil, err
	}
	if err := w.checkDeletable(p, info, opts.ExpectedVersion); err != nil {
		return nil, err
	}
	c := &Change{Tool: toolOf(opts.Options, "delete"), Paths: []string{p.String()}, DryRun: opts.DryRun, Trash: &TrashReport{Kind: kind}}
	did(c, change.Action{Verb: change.Deleted, Path: p.String(), ToTrash: kind != TrashNone}, opts.Options)
	if opts.DryRun {
		return c, nil
	}
	s := w.removeStep(ctx, p)
	if kind != TrashNone {
		s = w.trashStep(ctx, p, info, kind, c.Trash)
	}
	return settled(c, w.carryOut(ctx, c, []step{s}))
}

// checkDeletable compares the version, where one is expected.
func (w *Workspace) checkDeletable(p rootfs.Path, info rootfs.Info, expected string) error {
	if expected == "" {
		return nil
	}
	if info.Type != rootfs.TypeFile {
		return &rootfs.Error{Op: "delete", Path: p.String(), Kind: rootfs.NotRegular, Err: errors.New("only a file has a version")}
	}
	_, version, _, err := w.root.ReadFile(p, maxRead)
	if err != nil {
		return err
	}
	return checkVersion(p, version, expected)
}

// removeStep deletes for good what is still what the journal kept.
func (w *Workspace) removeStep(ctx context.Context, p rootfs.Path) step {
	return step{
		op: journal.Op{Kind: journal.Remove, Path: p},
		do: func(tx *journal.Tx) error {
			kept := tx.Entry().Ops[0]
			if err := w.sameTree(ctx, p, kept); err != nil {
				return err
			}
			err := w.root.RemoveAll(p)
			if err == nil {
				return nil
			}
			return w.bringBack(ctx, tx, err)
		},
	}
}

// bringBack makes again what a deletion had deleted when it failed.
func (w *Workspace) bringBack(ctx context.Context, tx *journal.Tx, cause error) error {
	ctx = context.WithoutCancel(ctx)
	plan, err := w.state.journal.Rollback(ctx, w.root, journal.Unfinished{Entry: tx.Entry(), Partly: true})
	if err == nil {
		err = plan.TakeBack(ctx, w.root, w.takeBackTrash)
		plan.Close()
	}
	if err != nil {
		return &PartialError{Cause: cause, Stuck: err}
	}
	return cause
}

// sameTree is a conflict if what is at p is no longer what was kept. Between
// this look and the deletion is a moment that no file system lets us close; a
// change in it is lost, as it is for rm.
func (w *Workspace) sameTree(ctx context.Context, p rootfs.Path, kept journal.Op) error {
	now, err := journal.Scan(ctx, w.root, p)
	if err != nil {
		return err
	}
	changed := func(rel string) error {
		name := p.String()
		if rel != "" {
			name += "/" + rel
		}
		return &rootfs.Error{Op: "delete", Path: name, Kind: rootfs.Conflict}
	}
	byName := func(a, b journal.Node) bool { return a.Rel == b.Rel }
	if len(now) != len(kept.Nodes) || !slices.EqualFunc(now, kept.Nodes, byName) {
		return changed("")
	}
	for i, a := range now {
		b := kept.Nodes[i]
		if a.Type != b.Type || a.Size != b.Size && a.Type == rootfs.TypeFile || !a.ModTime.Equal(b.ModTime) || a.Target != b.Target {
			return changed(a.Rel)
		}
	}
	if len(now) == 1 && now[0].Type == rootfs.TypeFile && kept.Lost == "" {
		_, version, _, err := w.root.ReadFile(p, maxRead)
		if err != nil {
			return err
		}
		if version != kept.Nodes[0].Version {
			return changed("")
		}
	}
	return nil
}
