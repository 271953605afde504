//go:build linux && !portable

package rootfs

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
	"golang.org/x/text/unicode/norm"

	"quarry/fault"
)

var (
	errNotDurable = errors.New("done, but the folder could not be synced")
	// errOtherDevice is EXDEV from the rename itself and from nothing after it.
	errOtherDevice = fmt.Errorf("another file system: %w", unix.EXDEV)
)

// Rename moves the file, symlink or folder at from to to, durably. It never
// overwrites, except that a name may change its own case or Unicode form. Both
// paths name entries (ResolveEntry); the folder of to must exist.
func (r *Root) Rename(from, to Path) error { return r.RenameTo(from, r, to) }

// RenameTo is Rename into another root, as a trash folder may be one. Onto
// another file system it copies, verifies, syncs and then deletes.
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
	info, err := r.infoAt(src.dir, src.name)
	if err != nil {
		return wrap(op, from.String(), err)
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
	return wrap(op, shown.String(), err)
}

func (r *Root) move(src, dst place, info Info) error {
	err := r.renameNoReplace(src.dir, src.name, dst.dir, dst.name)
	switch {
	case err == unix.EXDEV:
		return errOtherDevice
	case err == unix.EEXIST && r.sameEntry(src, dst, info):
		err = r.rename(src.dir, src.name, dst.dir, dst.name)
	case err != unix.EINVAL && err != unix.ENOSYS && err != unix.ENOTSUP:
	case info.Type == TypeDir:
		// Without such a rename, check first. A folder can only replace an empty
		// folder, so nothing is lost even if another program is faster.
		if _, e := r.infoAt(dst.dir, dst.name); e == nil {
			return unix.EEXIST
		}
		err = r.rename(src.dir, src.name, dst.dir, dst.name)
	case r.sameEntry(src, dst, info):
		err = r.rename(src.dir, src.name, dst.dir, dst.name)
	default:
		err = r.moveByLink(src.dir, src.name, dst.dir, dst.name)
	}
	if err != nil {
		return err
	}
	if err = r.syncDir(dst.dir); err == nil {
		err = r.syncDir(src.dir)
	}
	if err != nil && r.renameNoReplace(dst.dir, dst.name, src.dir, src.name) == nil {
		return err // rolled back, because it would not have been durable
	}
	if err != nil {
		return errors.Join(errNotDurable, err)
	}
	return nil
}

// sameEntry reports whether dst is src in another case or Unicode form, on a
// file system that doesn't tell them apart. Two names of one file, as hard
// links are, are two entries: both are in the listing.
func (r *Root) sameEntry(src, dst place, info Info) bool {
	if src.name == dst.name || !strings.EqualFold(norm.NFC.String(src.name), norm.NFC.String(dst.name)) {
		return false
	}
	there, err := infoAt(dst.dir, dst.name, 0)
	if err != nil || !there.SameFile(info) {
		return false
	}
	fd, err := openat(dst.dir, ".", flagsDir, 0)
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
// synced copy under a temporary name, gives it the new name, and then removes the
// old one. A folder first gets a temporary name, so that it vanishes in one step.
// A process that is killed in between leaves the old tree, the new one, or both,
// each complete; DropCopy recognises the copy in the last case. A tree that can't
// be removed is refused before anything is copied.
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
			r.removeTree(dst.dir, name)
		} else {
			r.unlink(dst.dir, name, 0)
		}
	}
	err := r.copyEntry(src.dir, src.name, dst.dir, name)
	if err == nil {
		err = r.verifyCopy(src.dir, src.name, dst.dir, name, true)
	}
	if err == nil {
		err = r.renameNoReplace(dst.dir, name, dst.dir, dst.name)
	}
	if err != nil {
		discard(name)
		return err
	}
	if err := r.syncDir(dst.dir); err != nil {
		discard(dst.name)
		return err
	}
	if info.Type != TypeDir {
		err = r.unlink(src.dir, src.name, 0)
	} else {
		err = r.removeMoved(src, dst)
	}
	if err != nil {
		discard(dst.name)
		return err
	}
	return r.syncDir(src.dir)
}

// copyEntry copies one entry with all it holds, synced.
func (r *Root) copyEntry(fromDir int, from string, toDir int, to string) error {
	info, err := r.infoAt(fromDir, from)
	if err != nil {
		return err
	}
	switch info.Type {
	case TypeSymlink:
		target, err := linkTarget(fromDir, from)
		if err != nil {
			return err
		}
		return r.symlink(target, toDir, to)
	case TypeDir:
		return r.copyDir(fromDir, from, toDir, to)
	case TypeFile:
		return r.copyFile(fromDir, from, toDir, to)
	}
	return errNotRegular
}

func linkTarget(dir int, name string) (string, error) {
	look, err := openat(dir, name, flagsLook, 0)
	if err != nil {
		return "", err
	}
	defer syscall.Close(look)
	return readlink(look)
}

func (r *Root) copyFile(fromDir int, from string, toDir int, to string) error {
	fd, err := openat(fromDir, from, flagsFile, 0)
	if err != nil {
		return err
	}
	f := new(File)
	if err := f.adopt(fd); err != nil {
		return err
	}
	defer f.Close()
	out, err := r.create(toDir, to, 0o600)
	if err != nil {
		return err
	}
	_, err = r.copyFD(fd, 0, out, 0, f.info.Size)
	if err == nil {
		err = r.finishCopy(fd, f.info, out)
	}
	if e := r.closeWritten(out); err == nil {
		err = e
	}
	return err
}

// finishCopy carries over what isn't content, and syncs. The move is not refused
// for attributes that the other file system can't store, or for an owner that we
// may not set.
func (r *Root) finishCopy(from int, info Info, to int) error {
	if err := r.copyMeta(from, info, to); err == errUnpreservable {
		err = r.chmod(to, unixMode(info.Mode.Perm()))
		if err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	if err := r.setModTime(to, info.ModTime); err != nil {
		return err
	}
	return r.sync(to)
}

func (r *Root) copyDir(fromDir int, from string, toDir int, to string) error {
	fd, err := openat(fromDir, from, flagsDir, 0)
	if err != nil {
		return err
	}
	d := &Dir{fd: fd, root: r}
	defer d.Close()
	info, err := d.Info()
	if err != nil {
		return err
	}
	entries, err := d.Read(nil)
	if err != nil {
		return err
	}
	if err := r.mkdir(toDir, to, 0o700); err != nil {
		return err
	}
	out, err := openat(toDir, to, flagsDir, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(out)
	for _, e := range entries {
		if err := r.copyEntry(fd, e.Name, out, e.Name); err != nil {
			return err
		}
	}
	return r.finishCopy(fd, info, out)
}

// verifyCopy compares a copy with its original, which may have changed since:
// names, types, link targets, modification times and, if asked, content.
func (r *Root) verifyCopy(fromDir int, from string, toDir int, to string, content bool) error {
	a, errA := r.infoAt(fromDir, from)
	b, errB := r.infoAt(toDir, to)
	switch {
	case errA != nil || errB != nil:
		return errors.Join(errA, errB)
	case a.Type != b.Type, a.Type == TypeFile && (a.Size != b.Size || !a.ModTime.Equal(b.ModTime)):
		return errVerifyCopy
	case a.Type == TypeFile && content:
		v, errV := r.versionAt(fromDir, from, a.Size)
		w, errW := r.versionAt(toDir, to, b.Size)
		if err := errors.Join(errV, errW); err != nil {
			return err
		}
		if v != w {
			return errVerifyCopy
		}
	case a.Type == TypeSymlink:
		v, errV := linkTarget(fromDir, from)
		w, errW := linkTarget(toDir, to)
		if err := errors.Join(errV, errW); err != nil {
			return err
		}
		if v != w {
			return errVerifyCopy
		}
	case a.Type == TypeDir:
		return r.verifyDir(fromDir, from, toDir, to, content)
	}
	return nil
}

func (r *Root) verifyDir(fromDir int, from string, toDir int, to string, content bool) error {
	fd, err := openat(fromDir, from, flagsDir, 0)
	if err != nil {
		return err
	}
	d := &Dir{fd: fd, root: r}
	defer d.Close()
	out, err := openat(toDir, to, flagsDir, 0)
	if err != nil {
		return err
	}
	e := &Dir{fd: out, root: r}
	defer e.Close()
	want, errA := d.Read(nil)
	have, errB := e.Read(nil)
	if err := errors.Join(errA, errB); err != nil {
		return err
	}
	if len(want) != len(have) {
		return errVerifyCopy
	}
	for _, w := range want {
		if err := r.verifyCopy(fd, w.Name, out, w.Name, content); err != nil {
			return err
		}
	}
	return nil
}
