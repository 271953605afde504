package changer

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/journal"
	"quarry/internal/policy"
	"quarry/internal/rootfs"
	"quarry/internal/rootfs/version"
	"quarry/internal/trash"
)

// trashKind selects where a deleted file goes. The order of precedence is: the request,
// the workspace's settings, the Extension, the system's trash. Without a TrashDir, the
// local trash replaces the system's.
func (w *Changer) trashKind(asked change.TrashKind) (change.TrashKind, error) {
	if asked == change.TrashDefault {
		asked = w.opts.Trash
	}
	if asked == change.TrashDefault {
		if w.opts.Extension != nil {
			var err error
			if asked, err = w.opts.Extension.Trash(); err != nil {
				return "", err
			}
		}
		if asked == change.TrashDefault {
			asked = change.TrashSystem
		}
		// Files must not leave the workspace unless the caller asks for it. On Windows
		// the recycle bin needs no TrashDir.
		if asked == change.TrashSystem && w.opts.TrashDir == "" && runtime.GOOS != "windows" {
			asked = change.TrashLocal
		}
		// Without Full Disk Access, macOS denies access to ~/.Trash. Unless the caller
		// asked for that trash, the file goes to .trash, and the answer says so.
		if asked == change.TrashSystem && trash.SystemClosed(w.opts.TrashDir) {
			asked = change.TrashLocal
		}
	}
	switch asked {
	case change.TrashSystem, change.TrashLocal, change.TrashNone:
		return asked, nil
	}
	return "", fmt.Errorf("trash %q: %w", string(asked), errTrashKind)
}

// bin opens the trash of a kind.
func (w *Changer) bin(kind change.TrashKind) (*trash.Bin, error) {
	// If a volume has no trash, its files are copied to the home trash.
	opts := &trash.Options{DataDir: w.opts.TrashDir, CopyHome: true, Layer: w.root.Layer()}
	if kind == change.TrashLocal {
		return trash.Local(w.root, opts), nil
	}
	return trash.System(w.root, opts)
}

// kindOf returns the kind of trash that an item is in. where is the item's id or, before
// it has one, the kind itself.
func kindOf(where string) change.TrashKind {
	if where == string(change.TrashLocal) || strings.HasPrefix(where, ".trash/") {
		return change.TrashLocal
	}
	return change.TrashSystem
}

// trashStep returns the step that moves p to the trash.
func (w *Changer) trashStep(ctx context.Context, p rootfs.Path, info rootfs.Info, kind change.TrashKind, report *change.TrashReport) step {
	var went journal.Result
	return step{
		op: journal.Op{Kind: journal.Trash, Path: p, Where: string(kind), Nodes: []journal.Node{{Type: info.Type}}},
		do: func(*journal.Tx) (err error) {
			went, err = w.toTrash(ctx, p, kind)
			report.Where = went.Where
			return err
		},
		result: func() journal.Result { return went },
	}
}

// toTrash moves p to a trash and returns its id there and its identity.
func (w *Changer) toTrash(ctx context.Context, p rootfs.Path, kind change.TrashKind) (journal.Result, error) {
	bin, err := w.bin(kind)
	if err != nil {
		return journal.Result{}, err
	}
	item, err := bin.Put(ctx, p)
	if err != nil {
		return journal.Result{}, err
	}
	return inTrashAs(bin, item.ID), nil
}

// inTrashAs returns the result of an operation that moved an entry to a trash, as item
// id.
func inTrashAs(bin *trash.Bin, id string) journal.Result {
	r := journal.Result{Where: id}
	if item, err := bin.Find(id); err == nil { // otherwise there is only the id
		r.New = markOf(item)
	}
	return r
}

func markOf(item trash.Item) rootfs.Version { return version.Of([]byte(item.Mark())) }

// inTrash finds the item that an operation has to restore. Since names in a trash are
// reused, the item must have the identity recorded by the deletion. If none was recorded,
// the item must at least come from the same path.
func (w *Changer) inTrash(op journal.Op) (*trash.Bin, trash.Item, error) {
	bin, err := w.bin(kindOf(op.Where))
	if err != nil {
		return nil, trash.Item{}, err
	}
	item, err := bin.Find(op.Where)
	if err != nil {
		return nil, item, err
	}
	same := item.Original == "" || item.Inside && item.Path == op.Path
	if !op.Old.IsZero() {
		same = markOf(item) == op.Old
	}
	if !same {
		return nil, item, fmt.Errorf("%s: %w", fault.Printable(op.Path.String()), trash.ErrNotFound)
	}
	return bin, item, nil
}

// applyTrash carries out an undo's operation on the trash.
func (w *Changer) applyTrash(ctx context.Context, op journal.Op) (journal.Result, error) {
	if op.Kind == journal.Trash {
		return w.toTrash(ctx, op.Path, kindOf(op.Where))
	}
	bin, item, err := w.inTrash(op)
	if err == nil {
		_, err = bin.Restore(item, op.Path)
	}
	return journal.Result{}, err
}

// maxTrashed is the size of the largest file that is read from a trash for a diff.
const maxTrashed = 16 << 20

// binned returns the content of a file that an operation moved to a trash, or nil if it
// is no longer there or must not be read.
func (w *Changer) binned(op journal.Op) []byte {
	if _, err := w.root.Known(op.Path.String()); err != nil {
		return nil
	}
	op.Old = op.New // the identity of the item in the trash
	bin, item, err := w.inTrash(op)
	if err != nil || item.Info.Type != rootfs.TypeFile {
		return nil
	}
	data, err := bin.Read(item, maxTrashed)
	if err != nil {
		return nil
	}
	return data
}

// missingInTrash returns the items that a plan has to restore and that are no longer in a
// trash.
func (w *Changer) missingInTrash(ops []journal.Op) []change.Conflict {
	var found []change.Conflict
	for _, op := range ops {
		if op.Kind != journal.Restore {
			continue
		}
		if _, _, err := w.inTrash(op); err != nil {
			found = append(found, change.Conflict{Path: op.Path.String(), Reason: change.NotInTrash})
		}
	}
	return found
}

// locateTrashed sets the trash ids of the files that completed operations deleted.
func (w *Changer) locateTrashed(u *journal.Unfinished) error {
	isTrash := func(op journal.Op) bool { return op.Kind == journal.Trash }
	if u.Done <= 0 || !slices.ContainsFunc(u.Ops[:u.Done], isTrash) {
		return nil
	}
	found, err := w.findTrashed(*u)
	if err != nil {
		return err
	}
	u.Ops = slices.Clone(u.Ops)
	for _, r := range found {
		if r.Op < u.Done {
			u.Ops[r.Op].Where, u.Ops[r.Op].New = r.Where, r.New
		}
	}
	return nil
}

// zones is the largest difference between local times in trash records: other machines use
// other time zones, and this one may have changed its own.
const zones = 26 * time.Hour

// findTrashed finds the trash ids of the files that an interrupted change deleted.
func (w *Changer) findTrashed(u journal.Unfinished) ([]journal.Result, error) {
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
			if item.Inside && item.Path == op.Path && !item.Deleted.Before(u.Time.Add(-zones)) {
				r := inTrashAs(bin, item.ID)
				r.Op = i
				results = append(results, r)
				break
			}
		}
	}
	return results, nil
}

// item is an entry of a trash, with its original path.
type item struct {
	change.Trashed
	original rootfs.Path
	typ      rootfs.Type
}

// Trashed lists the items that were deleted from this workspace, newest first within each
// trash. problems describes trashes and records that can't be read.
func (w *Changer) Trashed() (list []change.Trashed, problems []string, err error) {
	items, problems, err := w.items()
	for _, it := range items {
		list = append(list, it.Trashed)
	}
	return list, problems, err
}

func (w *Changer) items() (items []item, problems []string, err error) {
	for _, kind := range []change.TrashKind{change.TrashSystem, change.TrashLocal} {
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
			if !it.Inside && kind == change.TrashSystem {
				continue // from another workspace
			}
			found := item{typ: it.Info.Type, Trashed: change.Trashed{
				ID: it.ID, Kind: kind, Folder: it.Info.Type == rootfs.TypeDir, Size: it.Info.Size, Deleted: it.Deleted,
			}}
			if it.Inside {
				found.Path, found.original = it.Path.String(), it.Path
			}
			if w.closedItem(bin, it) {
				continue
			}
			items = append(items, found)
		}
	}
	return items, problems, nil
}

// closedItem reports whether the policy hides an item in a trash, because of its original
// path or its name in the trash.
func (w *Changer) closedItem(bin *trash.Bin, it trash.Item) bool {
	p := w.root.Policy()
	path := ".trash/" + it.Name
	if it.Inside {
		path = it.Path.String()
	}
	if p.Path(path, it.Info.Type == rootfs.TypeDir).Refused() || p.ClosesTrash(path) {
		return true
	}
	if it.Info.Type != rootfs.TypeFile || !p.ByContent(path) {
		return false
	}
	data, err := bin.Read(it, policy.MaxJudged)
	return err != nil || policy.IsSecretText(data)
}

// Restore moves an item from a trash to the path to, or to its original path if to is
// empty. what is the item's id, or an original path: then the item deleted last is
// restored.
func (w *Changer) Restore(ctx context.Context, what, to string, o change.Options) (*change.Change, error) {
	leave, err := w.enter("restore")
	if err != nil {
		return nil, err
	}
	defer leave()
	found, err := w.trashed(what)
	if err != nil {
		return nil, err
	}
	p := found.original
	if to != "" {
		if p, err = w.root.ResolveTarget(to); err != nil {
			return nil, err
		}
	}
	if p.IsRoot() {
		return nil, fmt.Errorf("restore %s: %w", fault.Printable(what), trash.ErrNoOriginal)
	}
	c := &change.Change{Tool: toolOf(o.Tool, "restore"), Paths: []string{p.String()}, DryRun: o.DryRun, Trash: &change.TrashReport{Kind: found.Kind, Where: found.ID}}
	record(c, change.Action{Verb: change.Restored, Path: p.String()}, o.Summary, o.Client)
	return settled(c, w.withFolders(ctx, p, func() error { return w.restoreOnce(ctx, c, p, found) }))
}

func (w *Changer) restoreOnce(ctx context.Context, c *change.Change, p rootfs.Path, it item) error {
	if _, err := w.root.Stat(p); err == nil {
		return &fault.PathError{Op: "restore", Path: p.String(), Kind: fault.AlreadyExists}
	}
	steps, err := w.folderSteps(p.Dir())
	if err != nil || c.DryRun {
		return err
	}
	c.Folders = madeFolders(steps)
	op := journal.Op{Kind: journal.Restore, Path: p, Where: it.ID, Nodes: []journal.Node{{Type: it.typ}}}
	if err := w.guarded(ctx, []journal.Op{op}); err != nil {
		return err
	}
	return w.carryOut(ctx, c, append(steps, step{op: op, do: func(*journal.Tx) error {
		bin, err := w.bin(it.Kind)
		if err != nil {
			return err
		}
		found, err := bin.Find(it.ID)
		if err == nil {
			_, err = bin.Restore(found, p)
		}
		return err
	}}))
}

// trashed finds an item by id or by original path.
func (w *Changer) trashed(what string) (item, error) {
	items, _, err := w.items()
	if err != nil {
		return item{}, err
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
		return item{}, fmt.Errorf("%s: %w", fault.Printable(what), change.ErrNotTrashed)
	}
	return items[best], nil
}

// EmptyTrash permanently deletes the items that were deleted from this workspace before
// the given time, or all of them if it is zero. Their deletion can no longer be undone.
func (w *Changer) EmptyTrash(ctx context.Context, before time.Time) (int, error) {
	leave, err := w.enter("empty")
	if err != nil {
		return 0, err
	}
	defer leave()
	n := 0
	var failed []error
	for _, kind := range []change.TrashKind{change.TrashSystem, change.TrashLocal} {
		bin, err := w.bin(kind)
		if err == nil {
			var gone []trash.Item
			// The local trash only has items of this workspace.
			gone, err = bin.Empty(ctx, trash.EmptyOptions{Before: before, Everything: kind == change.TrashLocal})
			n += len(gone)
		}
		if err != nil && !errors.Is(err, trash.ErrUnsupported) {
			failed = append(failed, err)
		}
	}
	return n, errors.Join(failed...)
}
