//go:build linux && !portable

package rootfs

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
	"golang.org/x/text/unicode/norm"

	"quarry/fault"
	"quarry/internal/rootfs/linux"
)

var (
	errNotDurable = errors.New("done, but the folder could not be synced")
	// errOtherDevice is an EXDEV from the rename itself, not from a later step.
	errOtherDevice = fmt.Errorf("another file system: %w", unix.EXDEV)
)

// Rename moves the file, symlink or folder at from to to, durably. It never
// overwrites, except that a name may change its own case or Unicode form. Both
// paths name entries (ResolveEntry); the folder of to must exist.
func (r *Root) Rename(from, to Path) error { return r.RenameTo(from, r, to) }

// RenameTo is Rename into another root, such as a trash folder. Onto another file system
// it copies, verifies, syncs and then deletes.
func (r *Root) RenameTo(from Path, dst *Root, to Path) error {
	if err := r.writable("rename", from); err != nil {
		return err
	}
	if r == dst && to != from && to.Beneath(from) {
		return &fault.PathError{Op: "rename", Path: to.String(), Kind: fault.InvalidArgument, Err: errIntoItself}
	}
	return r.renameTo(from, dst, to, func(src, at place, info Info) error {
		err := r.move(src, at, info)
		if err == errOtherDevice {
			err = r.moveAcross(src, at, info)
		}
		return err
	})
}

// renameTo checks both places and moves between them.
func (r *Root) renameTo(from Path, dst *Root, to Path, move func(src, at place, info Info) error) error {
	const op = "rename"
	src, err := r.removable(op, from)
	if err != nil {
		return err
	}
	defer src.close()
	info, err := r.sys.InfoAt(src.dir, src.name)
	if err != nil {
		return Wrap(op, from.String(), err)
	}
	if err := dst.editable(op, to, info.Type == TypeDir); err != nil {
		return err
	}
	at, err := dst.place(op, to)
	if err != nil {
		return err
	}
	defer at.close()
	err = move(src, at, info)
	shown := to
	if err == unix.ENOENT {
		shown = from
	}
	return Wrap(op, shown.String(), err)
}

func (r *Root) move(src, dst place, info Info) error {
	err := r.sys.RenameNoReplace(src.dir, src.name, dst.dir, dst.name)
	switch {
	case err == unix.EXDEV:
		return errOtherDevice
	case err == unix.EEXIST && r.sameEntry(src, dst, info):
		err = r.sys.Rename(src.dir, src.name, dst.dir, dst.name)
	case err != unix.EINVAL && err != unix.ENOSYS && err != unix.ENOTSUP:
	case info.Type == TypeDir:
		// Without such a rename, check first. Even if another program wins the race, nothing
		// is lost, because a folder can only replace an empty folder.
		if _, e := r.sys.InfoAt(dst.dir, dst.name); e == nil {
			return unix.EEXIST
		}
		err = r.sys.Rename(src.dir, src.name, dst.dir, dst.name)
	case r.sameEntry(src, dst, info):
		err = r.sys.Rename(src.dir, src.name, dst.dir, dst.name)
	default:
		err = r.sys.MoveByLink(src.dir, src.name, dst.dir, dst.name)
	}
	if err != nil {
		return err
	}
	if err = r.sys.SyncDir(dst.dir); err == nil {
		err = r.sys.SyncDir(src.dir)
	}
	if err != nil && r.sys.RenameNoReplace(dst.dir, dst.name, src.dir, src.name) == nil {
		return err // rolled back, because it was not durable
	}
	if err != nil {
		return errors.Join(errNotDurable, err)
	}
	return nil
}

// sameEntry reports whether dst is src in another case or Unicode form, on a file system
// that doesn't distinguish them. Unlike two hard links to a file, only one of them is in the
// listing.
func (r *Root) sameEntry(src, dst place, info Info) bool {
	if src.name == dst.name || !strings.EqualFold(norm.NFC.String(src.name), norm.NFC.String(dst.name)) {
		return false
	}
	there, err := linux.InfoAt(dst.dir, dst.name, 0)
	if err != nil || !there.SameFile(info) {
		return false
	}
	fd, err := linux.Openat(dst.dir, ".", linux.FlagsDir, 0)
	if err != nil {
		return false
	}
	d := &Dir{fd: fd, path: dst.path.Dir(), root: r}
	defer d.Close()
	entries, err := d.Read(nil)
	if err != nil {
		return false
	}
	return !slices.ContainsFunc(entries, func(e Entry) bool { return e.Name == dst.name })
}

// moveAcross moves to another file system. It makes a complete, verified and
// synced copy under a temporary name, renames the copy, and then removes the original. An
// original folder first gets a temporary name, so that it disappears in one step. If the
// process is killed in between, the old tree, the new one, or both exist, each complete;
// DropCopy recognizes the copy in the last case. A tree that can't be removed is refused
// before anything is copied.
func (r *Root) moveAcross(src, dst place, info Info) error {
	if info.Type == TypeDir {
		if err := removableTree(src.dir, src.path, nil); err != nil {
			return err
		}
	}
	temp := r.temps.next(r.owner(), phaseWrite)
	defer r.temps.done(temp)
	name := temp.String()
	discard := func(name string) {
		if info.Type == TypeDir {
			r.sys.RemoveTree(dst.dir, name)
		} else {
			r.sys.Unlink(dst.dir, name, 0)
		}
	}
	err := r.sys.CopyEntry(src.dir, src.name, dst.dir, name)
	if err == nil {
		err = r.sys.VerifyCopy(src.dir, src.name, dst.dir, name, true)
	}
	if err == nil {
		err = r.sys.RenameNoReplace(dst.dir, name, dst.dir, dst.name)
	}
	if err != nil {
		discard(name)
		return err
	}
	if err := r.sys.SyncDir(dst.dir); err != nil {
		discard(dst.name)
		return err
	}
	if info.Type != TypeDir {
		err = r.sys.Unlink(src.dir, src.name, 0)
	} else {
		err = r.removeMoved(src, dst)
	}
	if err != nil {
		discard(dst.name)
		return err
	}
	return r.sys.SyncDir(src.dir)
}
