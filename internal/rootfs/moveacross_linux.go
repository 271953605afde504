//go:build linux && !portable

package rootfs

import (
	"errors"

	"golang.org/x/sys/unix"

	"quarry/fault"
	"quarry/internal/rootfs/file"
	"quarry/internal/rootfs/linux"
)

// RenameInto is RenameTo without copying. It moves the entry at from to another root by one
// rename, which overwrites nothing and follows no symlink, and fails with syscall.EXDEV if
// only a copy is possible. If from was replaced since it was resolved, the new entry is moved.
func (r *Root) RenameInto(from Path, dst *Root, to Path) error {
	return r.renameTo(from, dst, to, func(src, at place, info Info) error { return r.move(src, at, info) })
}

// removeMoved removes the folder at src after it was copied to dst. After an error, the folder is unchanged.
func (r *Root) removeMoved(src, dst place) error {
	temp := r.temps.next(r.owner(), phaseWrite)
	defer r.temps.done(temp)
	away := temp.String()
	if err := r.sys.RenameNoReplace(src.dir, src.name, src.dir, away); err != nil {
		return err
	}
	// Other programs no longer find the folder under its new name. Earlier changes are
	// detected by times and sizes.
	err := r.sys.VerifyCopy(src.dir, away, dst.dir, dst.name, false)
	if err == nil {
		err = r.sys.SyncDir(src.dir)
	}
	if err != nil {
		return errors.Join(err, r.sys.RenameNoReplace(src.dir, away, src.dir, src.name))
	}
	if r.sys.RemoveTree(src.dir, away) != nil {
		// This was checked before, so it is rare. The move is complete, and cleaning the
		// folder removes the rest.
		r.temps.leave(src.path.Dir())
	}
	return nil
}

// removableTree returns an error if a folder can't be removed completely, because it contains
// a mount, an immutable file, or a folder without write permission. parent is the required
// mount; nil means any.
func removableTree(dir int, at Path, parent *mount) error {
	refuse := func(p Path, why string) error {
		return &fault.PathError{Op: "rename", Path: p.String(), Kind: fault.Permission, Err: errors.New(why)}
	}
	fd, err := linux.Openat(dir, at.Base(), linux.FlagsDir, 0)
	if err != nil {
		return Wrap("rename", at.String(), err)
	}
	d := &Dir{fd: fd}
	defer d.Close()
	var st unix.Statx_t
	if err := unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_BASIC_STATS|unix.STATX_MNT_ID, &st); err != nil {
		return Wrap("rename", at.String(), err)
	}
	here := mount{unix.Mkdev(st.Dev_major, st.Dev_minor), st.Mnt_id}
	if parent != nil && here != *parent {
		return refuse(at, "it is a mounted volume, and what is in it would have to be deleted")
	}
	entries, err := d.Read(nil)
	if err != nil {
		return Wrap("rename", at.String(), err)
	}
	if len(entries) > 0 && unix.Faccessat(fd, ".", unix.W_OK|unix.X_OK, unix.AT_EACCESS) != nil {
		return refuse(at, "the folder can't be written to, so what is in it can't be removed")
	}
	const kept = "it has the attribute immutable or append-only"
	if keptBySystem(&st) {
		return refuse(at, kept)
	}
	for _, e := range entries {
		child := at.child(e.Name)
		if e.Type == TypeDir {
			if err := removableTree(fd, child, &here); err != nil {
				return err
			}
			continue
		}
		err := unix.Statx(fd, e.Name, unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT, unix.STATX_BASIC_STATS|unix.STATX_MNT_ID, &st)
		switch {
		case err != nil:
			return Wrap("rename", child.String(), err)
		case st.Mnt_id != here.id:
			return refuse(child, "it is mounted")
		case keptBySystem(&st):
			return refuse(child, kept)
		}
	}
	return nil
}

func keptBySystem(st *unix.Statx_t) bool {
	return st.Attributes&(unix.STATX_ATTR_IMMUTABLE|unix.STATX_ATTR_APPEND) != 0
}

// mount identifies a volume, as mounts.Top does.
type mount struct{ dev, id uint64 }

// DropCopy removes the entry at copy if it is an exact copy of the entry at p. A move to another file system
// leaves such a copy if it is killed before the old name is removed. It reports whether it was a copy.
func (r *Root) DropCopy(p, copy Path) (bool, error) {
	const op = "remove"
	if err := r.writable(op, copy); err != nil {
		return false, err
	}
	src, err := r.removable(op, p)
	if err != nil {
		return false, unlessGone(err)
	}
	defer src.close()
	dst, err := r.removable(op, copy)
	if err != nil {
		return false, unlessGone(err)
	}
	defer dst.close()
	if err := r.sys.VerifyCopy(src.dir, src.name, dst.dir, dst.name, true); err != nil {
		if errors.Is(err, file.ErrVerifyCopy) || errors.Is(err, unix.ENOENT) {
			err = nil
		}
		return false, Wrap(op, copy.String(), err)
	}
	info, err := r.sys.InfoAt(dst.dir, dst.name)
	if err == nil && info.Type == TypeDir {
		err = r.sys.RemoveTree(dst.dir, dst.name)
	} else if err == nil {
		err = r.sys.Unlink(dst.dir, dst.name, 0)
	}
	if err == nil {
		err = r.sys.SyncDir(dst.dir)
	}
	return err == nil, Wrap(op, copy.String(), err)
}

func unlessGone(err error) error {
	if errors.Is(err, fault.NotFound) {
		return nil
	}
	return err
}
