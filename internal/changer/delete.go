package changer

import (
	"context"
	"errors"
	"slices"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/journal"
	"quarry/internal/rootfs"
	"quarry/internal/textfile"
)

// remove plans the deletion of a file, a symlink, or a folder with its contents. They go
// into the trash unless the options, the workspace's settings or the Extension select
// otherwise.
func (p *planner) remove(ctx context.Context, t *task) error {
	info, err := p.w.root.Stat(t.path)
	if err != nil {
		return err
	}
	if err := p.w.checkDeletable(t.path, info, t.Version); err != nil {
		return err
	}
	if t.FileOnly && info.Type == rootfs.TypeDir {
		return &fault.PathError{Op: "delete", Path: t.path.String(), Kind: fault.NotRegular}
	}
	if info.Type == rootfs.TypeDir {
		if err := p.w.allOpen(ctx, t.path); err != nil {
			return err
		}
	}
	if t.Content != nil {
		if err := p.w.checkContent(t.path, t.Content); err != nil {
			return err
		}
	}
	name := t.path.String()
	p.did = change.Action{Verb: change.Deleted, Path: name, ToTrash: t.trash != change.TrashNone}
	p.file(t, change.File{Path: name, Did: change.Deleted}, change.PathDiff{})
	report := &change.TrashReport{Kind: t.trash}
	p.c.Trash = report
	if t.trash == change.TrashNone {
		p.gone = append(p.gone, p.w.removeStep(ctx, t.path))
	} else {
		p.gone = append(p.gone, p.w.trashStep(ctx, t.path, info, t.trash, report))
	}
	return nil
}

// checkContent refuses to delete a file if its content is not want. Line endings may
// differ.
func (w *Changer) checkContent(p rootfs.Path, want []byte) error {
	have, _, err := w.root.ReadContent(p, maxRead)
	if err != nil {
		return err
	}
	plain := func(b []byte) string { return textfile.LF.Convert(string(b)) }
	if plain(have) != plain(want) {
		diff := diffOf(p.String(), p.String(), want, have, diffLimits())
		return &fault.PathError{Op: "delete", Path: p.String(), Kind: fault.Conflict, Err: &contentError{Diff: diff.Hunks}}
	}
	return nil
}

// checkDeletable returns an error if the entry doesn't have the expected version. An
// empty version matches any.
func (w *Changer) checkDeletable(p rootfs.Path, info rootfs.Info, expected string) error {
	if expected == "" {
		return nil
	}
	if info.Type != rootfs.TypeFile {
		return &fault.PathError{Op: "delete", Path: p.String(), Kind: fault.NotRegular, Err: errors.New("only a file has a version")}
	}
	version, _, err := w.root.ReadVersion(p)
	if err != nil {
		return err
	}
	return checkVersion(p, version, expected)
}

// removeStep permanently deletes the tree at p if it still equals the copy in the
// journal.
func (w *Changer) removeStep(ctx context.Context, p rootfs.Path) step {
	return step{
		op: journal.Op{Kind: journal.Remove, Path: p},
		do: func(tx *journal.Tx) error {
			i := slices.IndexFunc(tx.Entry().Ops, func(op journal.Op) bool { return op.Kind == journal.Remove && op.Path == p })
			kept := tx.Entry().Ops[i]
			if err := w.sameTree(ctx, p, kept); err != nil {
				return err
			}
			return w.root.RemoveAll(p)
		},
	}
}

// sameTree returns a conflict if the tree at p differs from the journal's copy. A
// modification between this check and the deletion is lost, as with rm: no file system
// can prevent that.
func (w *Changer) sameTree(ctx context.Context, p rootfs.Path, kept journal.Op) error {
	now, err := journal.Scan(ctx, w.root, p)
	if err != nil {
		return err
	}
	changed := func(rel string) error {
		name := p.String()
		if rel != "" {
			name += "/" + rel
		}
		return &fault.PathError{Op: "delete", Path: name, Kind: fault.Conflict}
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
		version, _, err := w.root.ReadVersion(p)
		if err != nil {
			return err
		}
		if version != kept.Nodes[0].Version {
			return changed("")
		}
	}
	return nil
}
