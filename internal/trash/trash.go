// Package trash moves deleted files to a place where people can find them again: the
// desktop's trash (FreeDesktop's specification 1.0, Windows' recycle bin, macOS' .Trash), or
// the workspace's own .trash folder. rootfs.RemoveAll deletes for good.
//
// The invariant: an item given to Put is at every moment in its place, or in the trash with
// a record of its origin; nothing is overwritten in either direction. Items move by one
// rename between open folders, so a symlink swapped in is itself trashed, never its target,
// and nothing is copied unless the caller allows it.
//
// # The workspace's .trash
//
// Items keep their names in .trash, where note-taking programs also put theirs. The records
// are in .trash/.quarry, one file each in the format of the desktop's trash. Other programs
// don't show hidden folders; a record written first reserves the name among processes; and
// the records move with the workspace, which they could not in a state folder.
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
	// DataDir contains the home trash: Trash in $XDG_DATA_HOME, or on macOS .Trash in the
	// home folder. On Windows it is for tests, and contains the recycle bin instead of the root
	// of the volume.
	DataDir string
	// UID selects the user's trash on other volumes; 0 means the process's user.
	UID int
	// CopyHome allows copying to the home trash from volumes that can't have their own
	// trash. The original is deleted when the copy is verified.
	CopyHome bool
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Layer is for tests.
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
	// ID identifies the item for Find. For the system's trash it is the absolute path,
	// for a local one the path in the workspace.
	ID string
	// Name is its name in the trash.
	Name string
	// Original is the recorded original path: absolute, or relative to the workspace in a
	// local trash; "" if there is no record.
	Original string
	// Path is Original as a path in this workspace, if Inside is set.
	Path    rootfs.Path
	Inside  bool
	Deleted time.Time // zero if unknown
	Info    rootfs.Info

	identity string
}

// Mark distinguishes an item from later ones with the same name in the trash, by its file
// identity and the date text in its record. It stays the same while the item is in the
// trash, whatever happens to its content and times. Only items returned by List or Find have
// one.
func (i Item) Mark() string {
	return i.identity + " deleted " + i.Deleted.Format("2006-01-02T15:04:05")
}

// trashHint is for people at the command line and for programs.
const trashHint = "delete to the local trash: --trash local, or Options.Trash in a Go program; Options.TrashDir names the system's"

var (
	// ErrNoTrash is for a volume without a trash that can't have one.
	ErrNoTrash = fault.New(fault.InvalidArgument, "this volume has no trash and none can be made", trashHint)
	// ErrUnsupported is for systems whose trash is not supported.
	ErrUnsupported = fault.New(fault.InvalidArgument, "the system trash is not supported here", trashHint)
	// ErrNotFound is for an item that is not, or no longer, in the trash.
	ErrNotFound = fault.New(fault.NotFound, "not in the trash", "")
	// ErrNoOriginal is for an item without an original path in this workspace.
	ErrNoOriginal = fault.New(fault.InvalidArgument, "it is not known where in this workspace it was; name a destination", "")
	errNoLocal    = fault.New(fault.InvalidArgument, "the local trash can't be used: move away the file or link in its place, or use --trash system or --trash none", "")
	errRoot       = errors.New("the workspace itself can't be trashed")
	errInTrash    = errors.New("it is in the trash already; delete it for good")
)

// System returns the desktop's trash for files in ws.
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
	if b.opts.UID == 0 {
		b.opts.UID = os.Getuid()
	}
	if b.opts.Now == nil {
		b.opts.Now = time.Now
	}
	return b
}

// Put moves the file, symlink or folder at p, which names an entry, into the trash. A
// folder that contains something the policy refuses is not moved.
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

// refused names the path that was to be deleted. The error names a path in the trash, which
// the caller did not ask for.
func refused(p rootfs.Path, err error) error {
	var e *fault.PathError
	if !errors.As(err, &e) || e.Kind != fault.IOError && e.Kind != fault.Permission && e.Kind != fault.ReadOnly {
		return fmt.Errorf("trash %s: %w", fault.Printable(p.String()), err)
	}
	if e.Op == "rename" && e.Err != nil {
		err = e.Err // the rename was from p
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

// List returns the items in the trash, newest first, and the unreadable ones. A system
// trash also lists files that other programs deleted from other folders; Inside is false
// for those.
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
		// Records have a resolution of one second. Moving an item here changed its inode.
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

// in runs f with the trash folder that contains id, if there is one.
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

// Restore moves an item back to its original path, or to another path if to is not the
// root. It never overwrites, and creates missing folders.
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

// EmptyOptions select what Empty deletes. The zero value means everything from this
// workspace.
type EmptyOptions struct {
	// Before keeps items that were deleted later or at an unknown time; zero keeps none.
	Before time.Time
	// Everything includes items from elsewhere.
	Everything bool
}

// Empty deletes items for good and returns them, with any errors.
func (b *Bin) Empty(ctx context.Context, opts EmptyOptions) (gone []Item, err error) {
	items, skipped, err := b.List()
	if err != nil {
		return nil, err
	}
	for _, item := range items {
		if err := context.Cause(ctx); err != nil {
			return gone, errors.Join(append(skipped, err)...)
		}
		// All of a local trash came from the workspace, also items without a record.
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

// Delete deletes one item for good.
func (b *Bin) Delete(item Item) error {
	err := ErrNotFound
	b.in(item.ID, func(c *can, name string) { err = c.delete(name) })
	if err != nil {
		return fmt.Errorf("delete %s: %w", fault.Printable(item.Name), err)
	}
	return nil
}
