package quarry

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"quarry/internal/journal"
	"quarry/internal/rootfs"
	"quarry/internal/trash"
)

// trashKind is how to delete: as asked, as the workspace was opened, as the
// vault says, else to the system's trash.
func (w *Workspace) trashKind(asked TrashKind) (TrashKind, error) {
	if asked == TrashDefault {
		asked = w.trash
	}
	if asked == TrashDefault {
		v, err := w.vault()
		if err != nil {
			return "", err
		}
		asked = TrashSystem
		if v != nil {
			asked = TrashKind(v.TrashOption)
		}
	}
	switch asked {
	case TrashSystem, TrashLocal, TrashNone:
		return asked, nil
	}
	return "", fmt.Errorf("%q: %w", string(asked), ErrTrashKind)
}

// bin opens a trash.
func (w *Workspace) bin(kind TrashKind) (*trash.Bin, error) {
	// What lies on a volume without a trash is better copied than kept.
	opts := &trash.Options{DataDir: w.trashDir, CopyHome: true, Layer: w.root.Layer()}
	if kind == TrashLocal {
		return trash.Local(w.root, opts), nil
	}
	return trash.System(w.root, opts)
}

// kindOf tells from an item's id which trash it is in, or from the kind itself,
// which stands for the id as long as there is none.
func kindOf(where string) TrashKind {
	if where == string(TrashLocal) || strings.HasPrefix(where, ".trash/") {
		return TrashLocal
	}
	return TrashSystem
}

// trashStep moves p to the trash.
func (w *Workspace) trashStep(ctx context.Context, p rootfs.Path, info rootfs.Info, kind TrashKind, report *TrashReport) step {
	return step{
		op: journal.Op{Kind: journal.Trash, Path: p, Where: string(kind), Nodes: []journal.Node{trashed(info)}},
		do: func(*journal.Tx) (err error) {
			report.Where, err = w.toTrash(ctx, p, kind)
			return err
		},
		result: func() journal.Result { return journal.Result{Where: report.Where} },
	}
}

func (w *Workspace) toTrash(ctx context.Context, p rootfs.Path, kind TrashKind) (where string, err error) {
	bin, err := w.bin(kind)
	if err != nil {
		return "", err
	}
	item, err := bin.Put(ctx, p)
	return item.ID, err
}

// trashed is what the journal notes of a thing to recognize it in the trash. A
// folder's time is no mark of it: a copy on another volume has its own.
func trashed(info rootfs.Info) journal.Node {
	n := journal.Node{Type: info.Type}
	if info.Type == rootfs.TypeFile {
		n.Size, n.ModTime = info.Size, info.ModTime
	}
	return n
}

// inTrash finds what an operation is to bring back. Names in a trash are given
// anew when something left it: one that was deleted before since, from elsewhere
// or with another size or time is not it.
func (w *Workspace) inTrash(op journal.Op, since time.Time) (*trash.Bin, trash.Item, error) {
	bin, err := w.bin(kindOf(op.Where))
	if err != nil {
		return nil, trash.Item{}, err
	}
	item, err := bin.Find(op.Where)
	if err != nil {
		return nil, item, err
	}
	ours := item.Original == "" || // Finder's trash has no records
		item.Inside && item.Path == op.Path && (item.Deleted.IsZero() || !item.Deleted.Before(since.Truncate(time.Second)))
	for _, n := range op.Nodes {
		ours = ours && item.Info.Type == n.Type
		if !n.ModTime.IsZero() {
			ours = ours && item.Info.Size == n.Size && item.Info.ModTime.Equal(n.ModTime)
		}
	}
	if !ours {
		return nil, item, fmt.Errorf("%s: %w", rootfs.Printable(op.Path.String()), trash.ErrNotFound)
	}
	return bin, item, nil
}

// applyTrash carries out an operation of an undo of a change made at the time
// since. It returns the new name in the trash, if there is one.
func (w *Workspace) applyTrash(ctx context.Context, op journal.Op, since time.Time) (where string, err error) {
	if op.Kind == journal.Trash {
		return w.toTrash(ctx, op.Path, kindOf(op.Where))
	}
	bin, item, err := w.inTrash(op, since)
	if err == nil {
		_, err = bin.Restore(item, op.Path)
	}
	return "", err
}

// takeBackTrash carries out an operation that takes another one back.
func (w *Workspace) takeBackTrash(ctx context.Context, op journal.Op) error {
	_, err := w.applyTrash(ctx, op, time.Time{})
	return err
}

// missingInTrash finds what a plan wants from a trash and is not there.
func (w *Workspace) missingInTrash(plan *journal.Plan) []PathConflict {
	var found []PathConflict
	for _, op := range plan.Change.Ops {
		if op.Kind != journal.Restore {
			continue
		}
		if _, _, err := w.inTrash(op, plan.Of.Time); err != nil {
			found = append(found, PathConflict{op.Path.String(), "is not in the trash any more"})
		}
	}
	return found
}

// findTrashed looks up what a deletion that was cut short is called in the
// trash.
func (w *Workspace) findTrashed(u journal.Unfinished) ([]journal.Result, error) {
	var results []journal.Result
	for i, op := range u.Ops {
		if op.Kind != journal.Trash {
			continue
		}
		bin, err := w.bin(kindOf(op.Where))
		if err != nil {
			return nil, err
		}
		items, _, err := bin.List()
		if err != nil {
			return nil, err
		}
		for _, item := range items { // newest first
			if item.Inside && item.Path == op.Path && !item.Deleted.Before(u.Time.Truncate(time.Second)) {
				results = append(results, journal.Result{Op: i, Where: item.ID})
				break
			}
		}
	}
	return results, nil
}

// TrashItem is something in a trash.
type TrashItem struct {
	ID       string    `json:"id"` // for RestoreTrashed
	Kind     TrashKind `json:"kind"`
	Path     string    `json:"path"` // where it was, relative to the workspace
	Folder   bool      `json:"folder,omitempty"`
	Size     int64     `json:"size"`
	Deleted  time.Time `json:"deleted,omitzero"`
	original rootfs.Path
	typ      rootfs.Type
}

// Trashed lists what was deleted from this workspace and is in a trash, newest
// first in each. Problems are trashes and records that can't be read.
func (w *Workspace) Trashed(context.Context) (items []TrashItem, problems []string, err error) {
	if w.elsewhere != nil {
		return nil, nil, w.changeable("list trash")
	}
	for _, kind := range []TrashKind{TrashSystem, TrashLocal} {
		bin, err := w.bin(kind)
		if errors.Is(err, trash.ErrUnsupported) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		list, skipped, err := bin.List()
		if err != nil {
			return nil, nil, err
		}
		for _, s := range skipped {
			problems = append(problems, s.Error())
		}
		for _, it := range list {
			if !it.Inside && kind == TrashSystem {
				continue // someone else's
			}
			item := TrashItem{ID: it.ID, Kind: kind, Folder: it.Info.Type == rootfs.TypeDir, Size: it.Info.Size, Deleted: it.Deleted, typ: it.Info.Type}
			if it.Inside {
				item.Path, item.original = it.Path.String(), it.Path
			}
			items = append(items, item)
		}
	}
	return items, problems, nil
}

// ErrNotTrashed is for an item that is in no trash of this workspace.
var ErrNotTrashed = errors.New("nothing of this name is in the trash")

// RestoreTrashed moves something from a trash to where it was, or to another
// path. what is an item's id, or the path it had: then the one deleted last.
func (w *Workspace) RestoreTrashed(ctx context.Context, what, to string, opts *ChangeOptions) (*Change, error) {
	o := opts.get()
	if err := w.changeable("restore"); err != nil {
		return nil, err
	}
	item, err := w.trashed(ctx, what)
	if err != nil {
		return nil, err
	}
	p := item.original
	if to != "" {
		if p, err = w.root.ResolveEntry(to); err != nil {
			return nil, err
		}
	}
	if p.IsRoot() {
		return nil, fmt.Errorf("restore %s: %w", rootfs.Printable(what), trash.ErrNoOriginal)
	}
	c := &Change{Tool: o.tool("restore"), Paths: []string{p.String()}, DryRun: o.DryRun, Trash: &TrashReport{item.Kind, item.ID}}
	c.Summary = "restored " + rootfs.Printable(p.String()) + " from trash"
	return settled(c, w.withFolders(ctx, p, func() error { return w.restoreOnce(ctx, c, p, item, o) }))
}

func (w *Workspace) restoreOnce(ctx context.Context, c *Change, p rootfs.Path, item TrashItem, o ChangeOptions) error {
	if _, err := w.root.Stat(p); err == nil {
		return &rootfs.Error{Op: "restore", Path: p.String(), Kind: rootfs.AlreadyExists}
	}
	steps, err := w.folderSteps(p.Dir(), true)
	if err != nil || o.DryRun {
		return err
	}
	c.Folders = madeFolders(steps)
	op := journal.Op{Kind: journal.Restore, Path: p, Where: item.ID, Nodes: []journal.Node{{Type: item.typ}}}
	return w.carryOut(ctx, c, append(steps, step{op: op, do: func(*journal.Tx) error {
		bin, err := w.bin(item.Kind)
		if err != nil {
			return err
		}
		found, err := bin.Find(item.ID)
		if err == nil {
			_, err = bin.Restore(found, p)
		}
		return err
	}}))
}

// trashed finds an item by id or by the path it had.
func (w *Workspace) trashed(ctx context.Context, what string) (TrashItem, error) {
	items, _, err := w.Trashed(ctx)
	if err != nil {
		return TrashItem{}, err
	}
	best := -1
	path := strings.Trim(strings.TrimPrefix(what, "./"), "/")
	for i, it := range items {
		if it.ID == what {
			return it, nil
		}
		if it.Path == path && it.Path != "" && (best < 0 || it.Deleted.After(items[best].Deleted)) {
			best = i
		}
	}
	if best < 0 {
		return TrashItem{}, fmt.Errorf("%s: %w", rootfs.Printable(what), ErrNotTrashed)
	}
	return items[best], nil
}

// EmptyTrash deletes for good what was deleted from this workspace before a
// moment, or all of it if that is zero. Those deletions can't be undone any
// more.
func (w *Workspace) EmptyTrash(ctx context.Context, before time.Time) (int, error) {
	if err := w.changeable("empty"); err != nil {
		return 0, err
	}
	n := 0
	var failed []error
	for _, kind := range []TrashKind{TrashSystem, TrashLocal} {
		bin, err := w.bin(kind)
		if err == nil {
			var gone []trash.Item
			// In the workspace's own trash everything is the workspace's.
			gone, err = bin.Empty(ctx, trash.EmptyOptions{Before: before, Everything: kind == TrashLocal})
			n += len(gone)
		}
		if err != nil && !errors.Is(err, trash.ErrUnsupported) {
			failed = append(failed, err)
		}
	}
	return n, errors.Join(failed...)
}
