// Package trash moves deleted files to a trash from which they can be restored: the
// desktop's trash (the FreeDesktop specification 1.0, Windows' recycle bin, macOS'
// .Trash), or the folder .trash in the workspace. To delete permanently, use
// rootfs.RemoveAll.
//
// The invariant: at every moment, an item given to Put is at its original path, or in the
// trash with a record of that path. Nothing is overwritten in either direction. An item
// is moved by one rename between open folders. So if it is replaced by a symlink, the
// link is moved to the trash, never its target. Nothing is copied unless the caller
// allows it.
//
// # The workspace's .trash
//
// Items keep their names in .trash, which note-taking programs use too. The records are
// in .trash/.quarry, one file for each, in the format of the desktop's trash. Other
// programs don't show hidden folders. Writing the record first reserves the name among
// processes. And unlike in a state folder, the records move with the workspace.
package trash

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"sort"
	"strings"
	"time"

	"quarry/fault"
	"quarry/internal/rootfs"
)

// Options are the options of a trash. The zero value has no home trash.
type Options struct {
	// DataDir is the folder of the home trash: $XDG_DATA_HOME, which contains Trash, or
	// on macOS the home folder, which contains .Trash. On Windows it is only set in
	// tests, as the folder that contains the recycle bin.
	DataDir string
	// UID selects the user's trash on other volumes; 0 means the process's user.
	UID int
	// CopyHome allows copying to the home trash from volumes that can't have a trash. The
	// original is deleted after the copy was verified.
	CopyHome bool
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Layer is set in tests.
	Layer *rootfs.Layer
}

// Bin is the trash of one workspace. It is safe for concurrent use, also by several
// processes and other programs.
type Bin struct {
	ws    *rootfs.Root
	opts  Options
	local bool
}

// Item is an item in a trash.
type Item struct {
	// ID identifies the item for Find. In the system's trash it is the absolute path, in
	// a local trash the path in the workspace.
	ID string
	// Name is its name in the trash.
	Name string
	// Original is the original path from the record: absolute, or in a local trash
	// relative to the workspace. It is "" if there is no record.
	Original string
	// Path is Original as a path in this workspace. It is valid if Inside is set.
	Path    rootfs.Path
	Inside  bool
	Deleted time.Time // zero if unknown
	Info    rootfs.Info

	identity string
}

// Mark distinguishes an item from later items with the same name in the trash. It
// consists of the file's identity and the date in its record, and stays the same while
// the item is in the trash, even if its content and times change. Only items returned by
// List or Find have a mark.
func (i Item) Mark() string {
	return i.identity + " deleted " + i.Deleted.Format("2006-01-02T15:04:05")
}

// trashHint is for command line users and for Go programs.
const trashHint = "delete to the local trash: --trash local, or Options.Trash in a Go program; Options.TrashDir names the system's"

var (
	// ErrNoTrash means that the volume has no trash and none can be made.
	ErrNoTrash = fault.New(fault.InvalidArgument, "this volume has no trash and none can be made", trashHint)
	// ErrUnsupported means that this system's trash is not supported.
	ErrUnsupported = fault.New(fault.InvalidArgument, "the system trash is not supported here", trashHint)
	// ErrNotFound means that the item is not in the trash.
	ErrNotFound = fault.New(fault.NotFound, "not in the trash", "")
	// ErrNoOriginal means that the item has no original path in this workspace.
	ErrNoOriginal = fault.New(fault.InvalidArgument, "it is not known where in this workspace it was; name a destination", "")
	errNoLocal    = fault.New(fault.InvalidArgument, "the local trash can't be used: move away the file or link in its place, or use --trash system or --trash none", "")
	errRoot       = errors.New("the workspace itself can't be trashed")
	errInTrash    = errors.New("it is in the trash already; delete it for good")
)

// System returns the desktop's trash, for files in ws.
func System(ws *rootfs.Root, opts *Options) (*Bin, error) {
	if !systemSupported {
		return nil, ErrUnsupported
	}
	return newBin(ws, opts, false), nil
}

// Local returns the folder .trash of ws as a trash.
func Local(ws *rootfs.Root, opts *Options) *Bin { return newBin(ws, opts, true) }

func newBin(ws *rootfs.Root, opts *Options, local bool) *Bin {
	b := &Bin{ws: ws, local: local}
	if opts != nil {
		b.opts = *opts
	}
	b.opts.UID = cmp.Or(b.opts.UID, os.Getuid())
	if b.opts.Now == nil {
		b.opts.Now = time.Now
	}
	return b
}

// Put moves the file, symlink or folder at p into the trash. It does not move a folder if
// the policy refuses anything in it.
func (b *Bin) Put(ctx context.Context, p rootfs.Path) (Item, error) {
	if p.IsRoot() {
		return Item{}, errRoot
	}
	if bin, err := b.ws.Known(localName); err == nil && p.Beneath(bin) {
		return Item{}, &fault.PathError{Op: "trash", Path: p.String(), Kind: fault.InvalidArgument, Err: errInTrash}
	}
	info, err := b.ws.Stat(p)
	if err != nil {
		return Item{}, err
	}
	if info.Type == rootfs.TypeDir {
		d, err := b.ws.OpenDir(p)
		if err != nil {
			return Item{}, err
		}
		err = d.Vet(ctx, "trash")
		d.Close()
		if err != nil {
			return Item{}, err
		}
	}
	item, err := b.put(p, info)
	if err != nil {
		return Item{}, refused(p, err)
	}
	return item, nil
}

// refused returns err with the path that was to be deleted. err itself may name a path in
// the trash, which the caller doesn't know.
func refused(p rootfs.Path, err error) error {
	var e *fault.PathError
	if !errors.As(err, &e) || e.Kind != fault.IOError && e.Kind != fault.Permission && e.Kind != fault.ReadOnly {
		return fmt.Errorf("trash %s: %w", fault.Printable(p.String()), err)
	}
	if e.Op == "rename" && e.Err != nil {
		err = e.Err // the failed rename was from p
	}
	return &fault.PathError{Op: "trash", Path: p.String(), Kind: e.Kind, Err: err}
}

func (b *Bin) put(p rootfs.Path, info rootfs.Info) (Item, error) {
	var tried []error
	for c, err := range b.destinations(p) {
		if err != nil {
			tried = append(tried, err)
			continue
		}
		item, err := c.put(b, p, info)
		c.close(b)
		if err == nil {
			return item, nil
		}
		if !isOtherDevice(err) {
			return Item{}, err
		}
	}
	err := ErrNoTrash
	if b.local {
		err = errNoLocal
	}
	for _, t := range tried {
		err = fmt.Errorf("%w (%w)", err, t)
	}
	return Item{}, err
}

// List returns the items in the trash, newest first, and errors about items that can't be
// read. A system trash also lists files that were deleted from other folders; their
// Inside is false.
func (b *Bin) List() (items []Item, skipped []error, err error) {
	for c, err := range b.existing() {
		if err != nil {
			skipped = append(skipped, err)
			continue
		}
		found, problems := c.list(b)
		items, skipped = append(items, found...), append(skipped, problems...)
		c.close(b)
	}
	sort.SliceStable(items, func(i, j int) bool {
		x, y := &items[i], &items[j]
		// Records have a resolution of one second. Within a second the inodes' change
		// times decide, which were set by the move to the trash.
		return cmp.Or(y.Deleted.Compare(x.Deleted), y.Info.ChangeTime.Compare(x.Info.ChangeTime), strings.Compare(x.ID, y.ID)) < 0
	})
	return items, skipped, nil
}

// Find returns the item with this id.
func (b *Bin) Find(id string) (Item, error) {
	item, err := Item{}, fmt.Errorf("%s: %w", fault.Printable(id), ErrNotFound)
	b.in(id, func(c *can, name string) { item, err = c.item(b, name) })
	return item, err
}

// in calls f with the trash folder and the item's name in it, if id is in an existing
// trash folder.
func (b *Bin) in(id string, f func(c *can, name string)) bool {
	for c, err := range b.existing() {
		if err != nil {
			continue
		}
		name, ok := strings.CutPrefix(id, c.shown+"/")
		ok = ok && name != "" && !strings.Contains(name, "/")
		if ok {
			f(c, name)
		}
		c.close(b)
		if ok {
			return true
		}
	}
	return false
}

// Read returns the content of an item that is a file of at most limit bytes.
func (b *Bin) Read(item Item, limit int64) ([]byte, error) {
	data, err := []byte(nil), error(ErrNotFound)
	b.in(item.ID, func(c *can, name string) {
		var at rootfs.Path
		if at, err = c.file(name); err == nil {
			data, _, err = c.root.ReadContent(at, limit)
		}
	})
	return data, err
}

// Restore moves an item to the path to, or to its original path if to is the root. It
// never overwrites, and creates missing folders.
func (b *Bin) Restore(item Item, to rootfs.Path) (rootfs.Path, error) {
	if to.IsRoot() {
		if !item.Inside {
			return to, fmt.Errorf("restore %s: %w", fault.Printable(item.Name), ErrNoOriginal)
		}
		to = item.Path
	}
	err := ErrNotFound
	b.in(item.ID, func(c *can, name string) { err = c.restore(b, name, to) })
	if err != nil {
		return to, fmt.Errorf("restore %s: %w", fault.Printable(item.Name), err)
	}
	return to, nil
}

// EmptyOptions select the items that Empty deletes. The zero value selects everything
// from this workspace.
type EmptyOptions struct {
	// Before, if set, keeps items that were deleted at that time or later, or at an
	// unknown time.
	Before time.Time
	// Everything includes items from other folders.
	Everything bool
}

// Empty permanently deletes items. It returns those deleted, even if there are errors.
func (b *Bin) Empty(ctx context.Context, opts EmptyOptions) (gone []Item, err error) {
	items, skipped, err := b.List()
	if err != nil {
		return nil, err
	}
	for _, item := range items {
		if err := context.Cause(ctx); err != nil {
			return gone, errors.Join(append(skipped, err)...)
		}
		// Everything in a local trash came from the workspace, including items without a
		// record.
		if !item.Inside && !b.local && !opts.Everything || !opts.Before.IsZero() && (item.Deleted.IsZero() || !item.Deleted.Before(opts.Before)) {
			continue
		}
		if err := b.Delete(item); err != nil {
			skipped = append(skipped, err)
			continue
		}
		gone = append(gone, item)
	}
	return gone, errors.Join(skipped...)
}

// Delete permanently deletes one item.
func (b *Bin) Delete(item Item) error {
	err := ErrNotFound
	b.in(item.ID, func(c *can, name string) { err = c.delete(name) })
	if err != nil {
		return fmt.Errorf("delete %s: %w", fault.Printable(item.Name), err)
	}
	return nil
}
