// Package trash moves what is deleted to where people can find it again: the
// desktop's trash (FreeDesktop's specification 1.0, Windows' recycle bin, macOS'
// .Trash), or the workspace's own .trash folder. Deleting for good is
// rootfs.RemoveAll.
//
// The invariant: what Put is given is at every moment in its place, or in the
// trash with a record of where it came from; nothing is overwritten in either
// direction. Entries move by one rename between open folders, so a symlink
// swapped in is trashed itself, never what it leads to, and nothing is copied
// unless the caller allows it.
//
// # The workspace's .trash
//
// Items keep their own names in .trash, where note-taking programs put theirs too.
// The records are in .trash/.quarry, one file each in the format of the desktop's
// trash: other programs show nothing in hidden folders, a record written first
// reserves the name among processes, and the records move with the workspace, which
// a state folder on one machine could not.
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

// Options of a trash. The zero value has no home trash.
type Options struct {
	// DataDir holds the home trash: $XDG_DATA_HOME, whose Trash it is; on macOS
	// the home folder, whose .Trash it is; on Windows, for tests, the folder that
	// holds the recycle bin instead of the top of the volume.
	DataDir string
	// UID is whose trash to use on other volumes; 0 is the process's user.
	UID int
	// CopyHome allows to copy to the home trash what lies on a volume that
	// can't have a trash of its own. The original is deleted when the copy is
	// verified.
	CopyHome bool
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// Layer is for tests.
	Layer *rootfs.Layer
}

// Bin is the trash of one workspace. It is safe for concurrent use, also by
// several processes and other programs.
type Bin struct {
	ws    *rootfs.Root
	opts  Options
	local bool
}

// Item is one thing in a trash.
type Item struct {
	// ID says where it is; Find takes it back. For the system's trash it is the
	// absolute path, for a local one the path in the workspace.
	ID string
	// Name is what it is called in the trash.
	Name string
	// Original is where it was, as recorded: absolute, or relative to the
	// workspace in a local trash; "" if there is no record.
	Original string
	// Path is Original as a place in this workspace, if Inside is set.
	Path    rootfs.Path
	Inside  bool
	Deleted time.Time // zero: not known
	Info    rootfs.Info

	identity string
}

// Mark tells a thing from another one that has its name in the trash later: by
// the file it is and the date that was written down, as it was written. It is the
// same for as long as the thing lies there, whatever is done to its content and
// times. Only an item that was found has one.
func (i Item) Mark() string {
	return i.identity + " deleted " + i.Deleted.Format("2006-01-02T15:04:05")
}

// trashHint is for a person at the command line and for a program.
const trashHint = "delete to the local trash: --trash local, or Options.Trash in a Go program; Options.TrashDir names the system's"

var (
	// ErrNoTrash is for a volume on which no trash can be.
	ErrNoTrash = fault.New(fault.InvalidArgument, "this volume has no trash and none can be made", trashHint)
	// ErrUnsupported is for systems whose trash we don't speak to.
	ErrUnsupported = fault.New(fault.InvalidArgument, "the system trash is not supported here", trashHint)
	// ErrNotFound is for an item that is not, or no longer, in the trash.
	ErrNotFound = fault.New(fault.NotFound, "not in the trash", "")
	// ErrNoOriginal is for an item that has no place in this workspace to go
	// back to.
	ErrNoOriginal = fault.New(fault.InvalidArgument, "it is not known where in this workspace it was; name a destination", "")
	errNoLocal    = fault.New(fault.InvalidArgument, "the local trash can't be used: move what is in its place away, or use --trash system or --trash none", "")
	errRoot       = errors.New("the workspace itself can't be trashed")
	errInTrash    = errors.New("it is in the trash already; delete it for good")
)

// System returns the desktop's trash for what is in ws.
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

// Put moves the file, symlink or folder at p, which names an entry, into the
// trash. A folder that holds something the policy refuses stays.
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

// refused names what was to be deleted. What failed is something in the trash,
// which nobody asked for.
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

// List returns what is in the trash, newest first, and what could not be read. A
// system trash also lists what other programs deleted from other folders; Inside
// is false for those.
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
		// Records know the second. Moving a thing here changed its inode.
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

// in runs f with the trash folder that holds id, if there is one.
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

// Read returns the content of an item that is a file of at most so many bytes.
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

// Restore moves an item back to where it was, or to another path if to is not
// the root. It never overwrites, and makes the folders that are missing.
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

// EmptyOptions say what Empty deletes. The zero value is all that came from
// this workspace.
type EmptyOptions struct {
	// Before spares what was deleted later, or nobody knows when; zero spares
	// nothing.
	Before time.Time
	// Everything includes what was deleted elsewhere.
	Everything bool
}

// Empty deletes items for good and returns those it deleted, with what failed.
func (b *Bin) Empty(ctx context.Context, opts EmptyOptions) (gone []Item, err error) {
	items, skipped, err := b.List()
	if err != nil {
		return nil, err
	}
	for _, item := range items {
		if err := context.Cause(ctx); err != nil {
			return gone, errors.Join(append(skipped, err)...)
		}
		// All of a local trash came from the workspace, also what has no record.
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
