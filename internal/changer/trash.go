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

// trashKind decides how to delete: as requested, as configured for the workspace, as the
// Extension says, else to the system's trash, or to the local one without a TrashDir.
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
		// Files must not leave the workspace unless the caller asks. Windows has a recycle bin
		// without a folder.
		if asked == change.TrashSystem && w.opts.TrashDir == "" && runtime.GOOS != "windows" {
			asked = change.TrashLocal
		}
		// Without Full Disk Access macOS refuses ~/.Trash. If the caller did not ask for it, the
		// file goes to .trash, and the answer says so.
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

// bin opens a trash.
func (w *Changer) bin(kind change.TrashKind) (*trash.Bin, error) {
	// Files on a volume without a trash are copied to another one.
	opts := &trash.Options{DataDir: w.opts.TrashDir, CopyHome: true, Layer: w.root.Layer()}
	if kind == change.TrashLocal {
		return trash.Local(w.root, opts), nil
	}
	return trash.System(w.root, opts)
}

// kindOf returns the trash of an item, from its id. While there is no id, the kind itself
// is used.
func kindOf(where string) change.TrashKind {
	if where == string(change.TrashLocal) || strings.HasPrefix(where, ".trash/") {
		return change.TrashLocal
	}
	return change.TrashSystem
}

// trashStep moves p to the trash.
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

// toTrash moves p to a trash and returns its path there and its identity.
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

// inTrashAs returns the result of an operation that moved an entry to a trash.
func inTrashAs(bin *trash.Bin, id string) journal.Result {
	r := journal.Result{Where: id}
	if item, err := bin.Find(id); err == nil { // otherwise the name alone must do
		r.New = markOf(item)
	}
	return r
}

func markOf(item trash.Item) rootfs.Version { return version.Of([]byte(item.Mark())) }

// inTrash finds the item that an operation has to restore. Names in a trash are reused, so
// it must be the item that the change put there. For entries without a mark it must at
// least come from the same path.
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

// applyTrash carries out an operation of an undo.
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

// maxTrashed bounds the content of a file in a trash that is read to be shown.
const maxTrashed = 16 << 20

// binned returns the content of a file that an operation moved to a trash; nil if it is
// gone or may not be read.
func (w *Changer) binned(op journal.Op) []byte {
	if _, err := w.root.Known(op.Path.String()); err != nil {
		return nil
	}
	op.Old = op.New // the mark of the item in the trash
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

// missingInTrash returns the items that a plan needs and that are missing in a trash.
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

// locateTrashed sets the names of the items that finished operations moved to a trash.
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

// zones bounds how far the local time of a record may differ from the time of another
// machine, or of this one with another time zone.
const zones = 26 * time.Hour

// findTrashed finds the names of the items that an interrupted deletion moved to a trash.
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

// item is an entry of a trash, with its former path.
type item struct {
	change.Trashed
	original rootfs.Path
	typ      rootfs.Type
}

// Trashed lists the items in a trash that were deleted from this workspace, newest first
// in each trash. problems names the trashes and records that can't be read.
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
				continue // someone else's
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

// closedItem reports whether the policy hides an item in a trash, by its former path or
// its name there.
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

// Restore moves an item from a trash to its former path, or to another one. what is an
// item's id, or its former path: then the one deleted last.
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

// trashed finds an item by id or by its former path.
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

// EmptyTrash permanently deletes the items deleted from this workspace before a moment, or
// all if it is zero. Those deletions can no longer be undone.
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
			// All items in the workspace's own trash belong to the workspace.
			gone, err = bin.Empty(ctx, trash.EmptyOptions{Before: before, Everything: kind == change.TrashLocal})
			n += len(gone)
		}
		if err != nil && !errors.Is(err, trash.ErrUnsupported) {
			failed = append(failed, err)
		}
	}
	return n, errors.Join(failed...)
}
