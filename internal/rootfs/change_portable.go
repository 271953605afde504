//go:build !linux || portable

package rootfs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/text/unicode/norm"
)

// Replace gives the file at p new content, if its content is the expected
// version; a zero expected accepts any. The file is the old one or the new one,
// whole, at every moment and after any crash.
//
// Without an exchanging rename the last check and the rename are two steps: a
// change another program makes between them, some microseconds, is lost.
func (r *Root) Replace(p Path, data []byte, expected Version, opts *ReplaceOptions) (Replaced, error) {
	return r.replace(p, []Edit{{Off: 0, Len: toEnd, Data: data}}, expected, opts)
}

// Splice is Replace for content that differs from the old one in a few places.
// Edits are in order and don't overlap; offsets are those of the old content.
func (r *Root) Splice(p Path, edits []Edit, expected Version, opts *ReplaceOptions) (Replaced, error) {
	for _, e := range edits {
		if e.Len < 0 {
			return Replaced{}, &Error{Op: "replace", Path: p.String(), Kind: InvalidArgument, Err: errEditOrder}
		}
	}
	return r.replace(p, edits, expected, opts)
}

func (r *Root) replace(p Path, edits []Edit, expected Version, opts *ReplaceOptions) (Replaced, error) {
	if err := r.editable("replace", p, false); err != nil {
		return Replaced{}, err
	}
	if opts == nil {
		opts = &ReplaceOptions{}
	}
	var res Replaced
	err := r.retry("replace", &p, func(rel string) error {
		dir, base, err := r.sys.openParent(rel)
		if err != nil {
			return err
		}
		defer dir.Close()
		res, err = r.replaceIn(dir, base, edits, expected, opts)
		return err
	})
	if err != nil {
		return Replaced{}, err
	}
	return res, nil
}

func (r *Root) replaceIn(dir *os.Root, base string, edits []Edit, expected Version, opts *ReplaceOptions) (Replaced, error) {
	old, err := openRegular(dir, base)
	if err != nil {
		return Replaced{}, err
	}
	defer old.Close()
	before, err := old.readAll(base, maxWhole)
	if err != nil {
		return Replaced{}, err
	}
	if err := checkEdits(edits, int64(len(before))); err != nil {
		return Replaced{}, err
	}
	after := applyEdits(before, edits)
	res := Replaced{Old: VersionOf(before), New: VersionOf(after), Info: old.Info()}
	if !expected.IsZero() && res.Old != expected {
		return Replaced{}, errVersion
	}
	if !opts.Want.IsZero() && res.New != opts.Want {
		return Replaced{}, errWant
	}
	if res.Old == res.New {
		res.Unchanged = true
		return res, nil
	}
	// A rename needs no leave to write to the file it replaces.
	if f, err := dir.OpenFile(base, os.O_WRONLY, 0); err != nil {
		return Replaced{}, err
	} else if err := f.Close(); err != nil {
		return Replaced{}, err
	}
	same := func() error {
		now, err := openRegular(dir, base)
		if err != nil {
			return errors.Join(errMeanwhile, err)
		}
		defer now.Close()
		b, err := now.readAll(base, maxWhole)
		if err == nil && !bytes.Equal(b, before) {
			err = errMeanwhile
		}
		return err
	}
	show := func() error {
		if opts.Keep == nil {
			return nil
		}
		if _, err := old.f.Seek(0, io.SeekStart); err != nil {
			return err
		}
		return opts.Keep(old)
	}
	if res.InPlace = old.info.Nlink > 1; res.InPlace {
		err = r.rewriteIn(dir, base, before, after, old.info, same, show)
	} else {
		err = r.renameOver(dir, base, after, old.info, same, show)
	}
	if err != nil {
		return Replaced{}, err
	}
	if st, err := dir.Lstat(base); err == nil {
		res.Info = infoOfFile(st)
	}
	return res, nil
}

func applyEdits(old []byte, edits []Edit) []byte {
	var out []byte
	at := int64(0)
	for _, e := range edits {
		out = append(append(out, old[at:e.Off]...), e.Data...)
		if at = e.Off + e.Len; e.Len == toEnd {
			at = int64(len(old))
		}
	}
	return append(out, old[at:]...)
}

// renameOver writes a new file and renames it over the old one.
func (r *Root) renameOver(dir *os.Root, base string, data []byte, like Info, same, show func() error) error {
	temp := r.temps.next(r.owner(), phaseWrite)
	defer r.temps.done(temp)
	err := writeNew(dir, temp.String(), data, like.Mode, 0o600)
	if err == nil && like.UID|like.GID != 0 {
		// Refused unless the owner is ours already; then there is nothing to do.
		dir.Chown(temp.String(), int(like.UID), int(like.GID))
	}
	for _, step := range []func() error{show, same} {
		if err == nil {
			err = step()
		}
	}
	if err == nil {
		err = dir.Rename(temp.String(), base)
	}
	if err != nil {
		dir.Remove(temp.String())
		return err
	}
	return syncFolder(dir)
}

// rewriteIn overwrites a file that has several names, with a backup beside it.
func (r *Root) rewriteIn(dir *os.Root, base string, before, after []byte, info Info, same, show func() error) error {
	temp := r.temps.next(r.owner(), phaseBackup)
	defer r.temps.done(temp)
	b := backup{ino: info.Ino, oldSize: int64(len(before)), newSize: int64(len(after)), old: VersionOf(before), new: VersionOf(after), base: base}
	err := writeNew(dir, temp.String(), append(b.encode(), before...), 0, 0o600)
	for _, step := range []func() error{func() error { return syncFolder(dir) }, show, same} {
		if err == nil {
			err = step()
		}
	}
	if err != nil {
		dir.Remove(temp.String())
		return err
	}
	if err := overwrite(dir, base, after); err != nil {
		if e := overwrite(dir, base, before); e != nil {
			return errors.Join(err, e) // the backup stays
		}
		dir.Remove(temp.String())
		return err
	}
	return dir.Remove(temp.String())
}

func overwrite(dir *os.Root, name string, data []byte) error {
	f, err := dir.OpenFile(name, os.O_WRONLY|openNonblock, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Truncate(int64(len(data)))
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// writeNew makes a synced file that wasn't there. A mode of 0 leaves perm.
func writeNew(dir *os.Root, name string, data []byte, mode, perm os.FileMode) error {
	f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return portableErr(err)
	}
	_, err = f.Write(data)
	if err == nil && mode != 0 {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// syncFolder makes names durable where the system can; Windows can't.
func syncFolder(dir *os.Root) error {
	if backslashSeparates {
		return nil
	}
	f, err := dir.Open(".")
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	return errors.Join(err, f.Close())
}

// drain has nothing to wait for here.
func (r *Root) drain(bool) {}

// in runs f in the folder of p.
func (r *Root) in(op string, p Path, f func(dir *os.Root, base string) error) error {
	return r.retry(op, &p, func(rel string) error {
		dir, base, err := r.sys.openParent(rel)
		if err != nil {
			return err
		}
		defer dir.Close()
		return portableErr(f(dir, base))
	})
}

// Create makes a new file at p with the given content, durably. It never
// overwrites: anything at p is AlreadyExists. The folder must exist.
func (r *Root) Create(p Path, data []byte, opts *CreateOptions) (Version, Info, error) {
	if err := r.editable("create", p, false); err != nil {
		return Version{}, Info{}, err
	}
	if opts == nil {
		opts = &CreateOptions{}
	}
	var info Info
	err := r.in("create", p, func(dir *os.Root, base string) error {
		if _, err := dir.Lstat(base); err == nil {
			return syscall.EEXIST
		}
		temp := r.temps.next(r.owner(), phaseWrite)
		defer r.temps.done(temp)
		defer dir.Remove(temp.String())
		err := writeNew(dir, temp.String(), data, opts.Mode, 0o666)
		if err == nil {
			err = moveName(dir, temp.String(), base)
		}
		if err == nil {
			err = syncFolder(dir)
		}
		if err != nil {
			return err
		}
		st, err := dir.Lstat(base)
		if err == nil {
			info = infoOfFile(st)
		}
		return err
	})
	if err != nil {
		return Version{}, Info{}, err
	}
	return VersionOf(data), info, nil
}

// moveName renames within a folder without overwriting: by a second link where
// there can be one, else by a look before, which another program can outrun.
func moveName(dir *os.Root, from, to string) error {
	err := dir.Link(from, to)
	if err == nil {
		return dir.Remove(from)
	}
	if errors.Is(err, os.ErrExist) {
		return syscall.EEXIST
	}
	if _, err := dir.Lstat(to); err == nil {
		return syscall.EEXIST
	}
	return dir.Rename(from, to)
}

// Mkdir makes the folder p. Its parent must exist.
func (r *Root) Mkdir(p Path) error {
	if err := r.editable("mkdir", p, true); err != nil {
		return err
	}
	return r.in("mkdir", p, func(dir *os.Root, base string) error {
		if err := dir.Mkdir(base, 0o777); err != nil {
			return err
		}
		return syncFolder(dir)
	})
}

// Remove deletes the file, symlink or empty folder at p.
func (r *Root) Remove(p Path) error {
	return r.remove(p, func(dir *os.Root, base string, _ bool) error { return dir.Remove(base) })
}

// RemoveAll deletes p and everything in it. A folder that holds something the
// policy refuses stays as it is: it is looked through first. Symlinks are
// deleted, never followed.
func (r *Root) RemoveAll(p Path) error {
	return r.remove(p, func(dir *os.Root, base string, isDir bool) error {
		if isDir {
			d, err := (&Dir{h: dir, path: p.Dir(), root: r}).openDir(base)
			if err != nil {
				return err
			}
			err = d.Vet(context.Background(), "remove")
			d.Close()
			if err != nil {
				return err
			}
		}
		return dir.RemoveAll(base)
	})
}

func (r *Root) remove(p Path, f func(dir *os.Root, base string, isDir bool) error) error {
	if err := r.editable("remove", p, true); err != nil {
		return err
	}
	return r.in("remove", p, func(dir *os.Root, base string) error {
		st, err := dir.Lstat(base)
		if err != nil {
			return err
		}
		if err := r.policy.check("remove", p.String(), p, st.IsDir()); err != nil {
			return err
		}
		if err := f(dir, base, st.IsDir()); err != nil {
			return err
		}
		return syncFolder(dir)
	})
}

// Rename moves the file, symlink or folder at from to to. It never overwrites
// what a look before finds, except that a name may change its own case.
func (r *Root) Rename(from, to Path) error { return r.RenameTo(from, r, to) }

// RenameTo is Rename into another root; it copies, verifies and then deletes.
func (r *Root) RenameTo(from Path, dst *Root, to Path) error {
	const op = "rename"
	if err := r.editable(op, from, true); err != nil {
		return err
	}
	if r == dst && to != from && to.Beneath(from) {
		return &Error{Op: op, Path: to.String(), Kind: InvalidArgument, Err: errIntoItself}
	}
	info, err := r.Stat(from)
	if err != nil {
		return err
	}
	if err := dst.editable(op, to, info.Type == TypeDir); err != nil {
		return err
	}
	if there, err := dst.Stat(to); err == nil {
		folded := strings.EqualFold(norm.NFC.String(from.s), norm.NFC.String(to.s))
		if r != dst || from == to || !folded || !there.SameFile(info) || dst.listed(to) {
			return &Error{Op: op, Path: to.String(), Kind: AlreadyExists}
		}
	} else if KindOf(err) != NotFound {
		return err
	}
	err = syscall.EXDEV
	if r == dst {
		err = portableErr(r.sys.root.Rename(from.s, to.s))
	}
	if err == syscall.EXDEV {
		err = r.moveAcross(from, dst, to)
	}
	for _, end := range []struct {
		r *Root
		p Path
	}{{dst, to}, {r, from}} {
		if err == nil {
			err = end.r.in(op, end.p, func(dir *os.Root, _ string) error { return syncFolder(dir) })
		}
	}
	return wrap(op, to.String(), err)
}

// listed reports whether the folder of p has an entry spelled exactly so.
func (r *Root) listed(p Path) bool {
	d, err := r.OpenDir(p.Dir())
	if err != nil {
		return true
	}
	defer d.Close()
	entries, err := d.Read(nil)
	for _, e := range entries {
		if e.Name == p.Base() {
			return true
		}
	}
	return err != nil
}

func (r *Root) moveAcross(from Path, dst *Root, to Path) error {
	return r.in("rename", from, func(src *os.Root, name string) error {
		return dst.in("rename", to, func(dir *os.Root, base string) error {
			temp := r.temps.next(r.owner(), phaseWrite)
			defer r.temps.done(temp)
			err := copyEntry(src, name, dir, temp.String())
			if err == nil {
				err = dir.Rename(temp.String(), base)
			}
			if err != nil {
				dir.RemoveAll(temp.String())
				return err
			}
			if err := syncFolder(dir); err != nil {
				return err
			}
			if err := src.RemoveAll(name); err != nil {
				return fmt.Errorf("copied, but the original could not be removed: %w", err)
			}
			return nil
		})
	})
}

// copyEntry copies one entry with all it holds, and compares files.
func copyEntry(src *os.Root, from string, dst *os.Root, to string) error {
	st, err := src.Lstat(from)
	if err != nil {
		return err
	}
	switch typeOfFileMode(st.Mode()) {
	case TypeSymlink:
		target, err := src.Readlink(from)
		if err != nil {
			return err
		}
		return dst.Symlink(target, to)
	case TypeDir:
		return copyDir(src, from, dst, to, st)
	case TypeFile:
	default:
		return errNotRegular
	}
	f, err := openRegular(src, from)
	if err != nil {
		return err
	}
	defer f.Close()
	out, err := dst.OpenFile(to, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, f)
	if err == nil {
		err = out.Chmod(st.Mode().Perm())
	}
	if err == nil {
		err = out.Sync()
	}
	if err := errors.Join(err, out.Close()); err != nil {
		return err
	}
	if now, err := f.Stat(); err != nil || !unchanged(now, f.Info()) {
		return errors.Join(errVerifyCopy, err)
	}
	return dst.Chtimes(to, time.Time{}, st.ModTime())
}

func copyDir(src *os.Root, from string, dst *os.Root, to string, st os.FileInfo) error {
	h, err := enter(src, from)
	if err != nil {
		return err
	}
	d := &Dir{h: h}
	defer d.Close()
	entries, err := d.Read(nil)
	if err != nil {
		return err
	}
	if err := dst.Mkdir(to, 0o700); err != nil {
		return err
	}
	out, err := enter(dst, to)
	if err != nil {
		return err
	}
	defer out.Close()
	for _, e := range entries {
		if err := copyEntry(h, e.Name, out, e.Name); err != nil {
			return err
		}
	}
	return errors.Join(dst.Chmod(to, st.Mode().Perm()), syncFolder(out))
}

// owner identifies this process, as well as it can be done everywhere.
func (r *Root) owner() owner { return owner{boot: noBoot, space: "00000000", pid: os.Getpid()} }

// cleanTemp drops what our own process left, and others' files older than an
// hour. The backup of a file that was being rewritten in place becomes visible
// if the file holds neither its old nor its new content.
func (r *Root) cleanTemp(d *Dir, e Entry, res *Cleaned) error {
	name := e.Name
	t, err := parseTempName(name)
	if err != nil {
		return nil // someone else's file that happens to be called so
	}
	st, err := d.h.Lstat(name)
	if err != nil || !r.temps.leftOver(t) && time.Since(st.ModTime()) < doubtfulAge {
		return nil
	}
	if t.phase == phaseBackup {
		if err := r.exportBackup(d, name, res); err != nil {
			return err
		}
	}
	if err := d.h.RemoveAll(name); err != nil {
		return err
	}
	res.Removed++
	return nil
}

func (r *Root) exportBackup(d *Dir, name string, res *Cleaned) error {
	f, err := d.openFile(name)
	if err != nil {
		return err
	}
	defer f.Close()
	data, err := f.readAll(name, maxWhole)
	if err != nil || len(data) < backupHeader {
		return err
	}
	b, ok := decodeBackup(data[:backupHeader])
	if old := data[backupHeader:]; !ok || VersionOf(old) != b.old {
		return nil // never finished, so nothing was overwritten
	}
	if now, err := d.openFile(b.base); err == nil {
		have, err := now.readAll(b.base, maxWhole)
		now.Close()
		if v := VersionOf(have); err == nil && (v == b.old || v == b.new) {
			return nil
		}
	}
	visible := conflictName(b.base)
	if err := writeNew(d.h, visible, data[backupHeader:], 0, 0o600); err != nil {
		return err
	}
	res.Kept = append(res.Kept, d.path.child(visible))
	return nil
}
