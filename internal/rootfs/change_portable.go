//go:build !linux || portable

package rootfs

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/text/unicode/norm"

	"quarry/fault"
	"quarry/internal/rootfs/file"
	"quarry/internal/rootfs/version"
)

func (r *Root) replace(p Path, edits Edits, expected Version, opts *ReplaceOptions) (Replaced, error) {
	if err := r.editable("replace", p, false); err != nil {
		return Replaced{}, err
	}
	opts = cmp.Or(opts, &ReplaceOptions{})
	var res Replaced
	err := r.retry("replace", &p, func(rel string) error {
		dir, _, err := r.sys.openParent(rel)
		if err != nil {
			return err
		}
		defer dir.Close()
		res, err = r.replaceIn(dir, Path{rel}, edits, expected, opts)
		return err
	})
	if err != nil {
		return Replaced{}, err
	}
	return res, nil
}

func (r *Root) replaceIn(dir *folder, p Path, edits Edits, expected Version, opts *ReplaceOptions) (Replaced, error) {
	base := p.Base()
	old, err := openRegular(dir, base)
	if err != nil {
		return Replaced{}, err
	}
	defer old.Close()
	if err := r.notOwn("replace", dir, p, old.Info()); err != nil {
		return Replaced{}, err
	}
	before, err := old.readAll(base, maxWhole)
	if err != nil {
		return Replaced{}, err
	}
	after, err := applyEdits(before, edits)
	if err != nil {
		return Replaced{}, err
	}
	res := Replaced{Old: version.Of(before), New: version.Of(after), Info: old.Info()}
	if !expected.IsZero() && res.Old != expected {
		return Replaced{}, file.ErrVersion
	}
	if !opts.Want.IsZero() && res.New != opts.Want {
		return Replaced{}, errWant
	}
	if res.Old == res.New {
		res.Unchanged = true
		return res, nil
	}
	// A rename needs no permission to write to the file that it replaces, so even
	// a write-protected file may be replaced.
	if f, err := dir.OpenWrite(base); err == nil {
		f.Close()
	} else if !errors.Is(err, file.ErrBusy) {
		return Replaced{}, err
	}
	same := func(name string) error {
		now, err := openRegular(dir, name)
		if err != nil {
			return errors.Join(file.ErrMeanwhile, err)
		}
		defer now.Close()
		b, err := now.readAll(name, maxWhole)
		if err == nil && !bytes.Equal(b, before) {
			err = file.ErrMeanwhile
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
	if res.InPlace = old.info.Nlink > 1; !res.InPlace {
		err = r.renameOver(dir, base, after, old, same, show)
		res.InPlace = err == errInPlace
	}
	if res.InPlace {
		err = r.rewriteIn(dir, base, before, after, old.info, func() error { return same(base) }, show)
	}
	if err != nil {
		return Replaced{}, err
	}
	if now, err := dir.Lstat(base); err == nil {
		res.Info = now
	}
	return res, nil
}

func applyEdits(old []byte, edits Edits) ([]byte, error) {
	next, stop := version.Ordered(edits, int64(len(old)))
	defer stop()
	var out []byte
	at := int64(0)
	for ; next.OK; next.Advance() {
		e := next.Head
		out = append(append(out, old[at:e.Off]...), e.Data...)
		if at = e.Off + e.Len; e.Len == ToEnd {
			at = int64(len(old))
		}
	}
	if next.Err != nil {
		return nil, next.Err
	}
	return append(out, old[at:]...), nil
}

// errInPlace means that a new file can't replace the old one.
var errInPlace = errors.New("the file has to be rewritten in place")

// renameOver writes a new file and renames it over the old one.
func (r *Root) renameOver(dir *folder, base string, data []byte, old *File, same func(string) error, show func() error) error {
	temp := r.temps.next(r.owner(), phaseWrite)
	defer r.temps.done(temp)
	name := temp.String()
	f, kept, err := dir.CreateLike(name, old.f, base, old.info)
	if err != nil {
		return err
	}
	if !kept {
		return errInPlace
	}
	err = errors.Join(writeSynced(f, data), f.Close())
	if err == nil {
		err = show()
	}
	if err == nil {
		err = replaceHeld(dir, name, base, old, same)
	}
	if err != nil {
		if stuck := new(StuckError); !errors.As(err, &stuck) {
			dir.Remove(name)
		}
		return err
	}
	return dir.Sync()
}

// replaceHeld compares the file once more and renames the new one over it. If possible, it locks the file in
// between, so that no program writes to it; otherwise it exchanges the files, if the system can do that, and
// compares again. On Windows a program may forbid renaming over its file and still allow writing to it.
func replaceHeld(dir *folder, name, base string, old *File, same func(string) error) error {
	release, held := dir.Hold(base)
	err := same(base)
	if err == nil && held {
		err = dir.Replace(name, base, false)
	}
	release()
	if !held && err == nil || held && (errors.Is(err, file.ErrBusy) || errors.Is(err, syscall.EACCES)) {
		old.Close() // on some systems our own handle keeps the file busy
		if err = same(base); err == nil {
			err = exchangeOver(dir, name, base, same, dir.Exchange)
		}
		if err == file.ErrNoExchange {
			err = dir.Replace(name, base, true)
		}
	}
	if errors.Is(err, file.ErrBusy) || errors.Is(err, syscall.EACCES) {
		return errInPlace // may fail for the same reason
	}
	return err
}

func writeSynced(f *os.File, data []byte) error {
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Sync()
}

// rewriteIn overwrites a file that has several names, with a backup beside it.
func (r *Root) rewriteIn(dir *folder, base string, before, after []byte, info Info, same, show func() error) error {
	temp := r.temps.next(r.owner(), phaseBackup)
	defer r.temps.done(temp)
	b := backup{ino: info.Ino, oldSize: int64(len(before)), newSize: int64(len(after)), old: version.Of(before), new: version.Of(after), base: base}
	err := writeNew(dir, temp.String(), append(b.encode(), before...), 0, 0o600)
	for _, step := range []func() error{func() error { return dir.Sync() }, show, same} {
		if err == nil {
			err = step()
		}
	}
	if err != nil {
		dir.Remove(temp.String())
		return err
	}
	f, err := dir.OpenWrite(base)
	if err == nil {
		defer f.Close()
		if err = overwrite(f, after); err != nil {
			if e := overwrite(f, before); e != nil {
				return errors.Join(err, e) // the backup stays
			}
		}
	}
	return errors.Join(err, dir.Remove(temp.String()))
}

func overwrite(f *os.File, data []byte) error {
	_, err := f.WriteAt(data, 0)
	if err == nil {
		err = f.Truncate(int64(len(data)))
	}
	if err == nil {
		err = f.Sync()
	}
	return err
}

// writeNew makes a new, synced file with mode, or with perm if mode is 0.
func writeNew(dir *folder, name string, data []byte, mode, perm os.FileMode) error {
	f, err := dir.Create(name, perm)
	if err != nil {
		return err
	}
	if mode != 0 {
		err = setMode(f, mode)
	}
	if err == nil {
		err = writeSynced(f, data)
	}
	return errors.Join(err, f.Close())
}

// Rename moves the file, symlink or folder at from to to. It checks first that
// nothing would be overwritten. A name may change its own case.
func (r *Root) Rename(from, to Path) error { return r.RenameTo(from, r, to) }

// RenameTo is Rename into another root; it copies, verifies and then deletes.
func (r *Root) RenameTo(from Path, dst *Root, to Path) error {
	const op = "rename"
	if err := r.editable(op, from, true); err != nil {
		return err
	}
	if r == dst && to != from && to.Beneath(from) {
		return &fault.PathError{Op: op, Path: to.String(), Kind: fault.InvalidArgument, Err: errIntoItself}
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
			return &fault.PathError{Op: op, Path: to.String(), Kind: fault.AlreadyExists}
		}
	} else if KindOf(err) != fault.NotFound {
		return err
	}
	err = syscall.EXDEV
	if r == dst {
		err = r.renameWithin(op, from, to)
	}
	if errors.Is(err, syscall.EXDEV) {
		err = r.moveAcross(from, dst, to)
	}
	for _, end := range []struct {
		r *Root
		p Path
	}{{dst, to}, {r, from}} {
		if err == nil {
			err = end.r.in(op, end.p, func(dir *folder, _ string) error { return dir.Sync() })
		}
	}
	return Wrap(op, to.String(), err)
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
	return r.in("rename", from, func(src *folder, name string) error {
		return dst.in("rename", to, func(dir *folder, base string) error {
			temp := r.temps.next(r.owner(), phaseWrite)
			defer r.temps.done(temp)
			err := copyEntry(src, name, dir, temp.String())
			if err == nil {
				err = dir.Move(temp.String(), dir, base)
			}
			if err != nil {
				dir.RemoveAll(temp.String())
				return err
			}
			if err := dir.Sync(); err != nil {
				return err
			}
			// The old name is removed in one step, and then its content, so that
			// a process that is killed in between leaves complete trees.
			away := r.temps.next(r.owner(), phaseWrite)
			defer r.temps.done(away)
			if err := src.Move(name, src, away.String()); err != nil {
				return errors.Join(err, dir.RemoveAll(base))
			}
			if err := src.RemoveAll(away.String()); err != nil {
				r.temps.leave(from.Dir())
			}
			return nil
		})
	})
}

// DropCopy removes the entry at copy if it is an exact copy of the entry at p. A move to another volume
// leaves such a copy if it is killed before the old name is removed. It reports whether it was a copy.
func (r *Root) DropCopy(p, copy Path) (bool, error) {
	same, err := r.sameTree(p, copy)
	if err != nil || !same {
		return false, err
	}
	return true, r.RemoveAll(copy)
}

// sameTree reports whether two entries have equal types, names, link targets and contents.
func (r *Root) sameTree(a, b Path) (bool, error) {
	x, errX := r.Stat(a)
	y, errY := r.Stat(b)
	switch {
	case KindOf(errX) == fault.NotFound || KindOf(errY) == fault.NotFound:
		return false, nil
	case errX != nil || errY != nil:
		return false, errors.Join(errX, errY)
	case x.Type != y.Type, x.Type == TypeFile && x.Size != y.Size:
		return false, nil
	case x.Type == TypeFile:
		_, v, _, errV := r.ReadFile(a, x.Size)
		_, w, _, errW := r.ReadFile(b, y.Size)
		return v == w, errors.Join(errV, errW)
	case x.Type != TypeDir:
		return false, nil
	}
	d, err := r.OpenDir(a)
	if err != nil {
		return false, err
	}
	defer d.Close()
	e, err := r.OpenDir(b)
	if err != nil {
		return false, err
	}
	defer e.Close()
	these, errThese := d.Read(nil)
	those, errThose := e.Read(nil)
	if err := errors.Join(errThese, errThose); err != nil || len(these) != len(those) {
		return false, err
	}
	for _, t := range these {
		if same, err := r.sameTree(a.child(t.Name), b.child(t.Name)); err != nil || !same {
			return false, err
		}
	}
	return true, nil
}

// copyEntry copies an entry with its contents, and verifies the copies of files.
func copyEntry(src *folder, from string, dst *folder, to string) error {
	st, err := src.Lstat(from)
	if err != nil {
		return err
	}
	switch st.Type {
	case TypeSymlink:
		target, err := src.Readlink(from)
		if err != nil {
			return err
		}
		return dst.Symlink(target, to, st.Mode.Perm() == 0o777)
	case TypeDir:
		return copyDir(src, from, dst, to, st)
	case TypeFile:
	default:
		return file.ErrNotRegular
	}
	f, err := openRegular(src, from)
	if err != nil {
		return err
	}
	defer f.Close()
	out, kept, err := dst.CreateLike(to, f.f, from, st)
	if err == nil && !kept {
		if out, err = dst.Create(to, 0o600); err == nil {
			err = setMode(out, st.Mode.Perm())
		}
	}
	if err != nil {
		return err
	}
	_, err = io.Copy(out, f)
	if err == nil {
		err = out.Sync()
	}
	if err := errors.Join(err, out.Close()); err != nil {
		return err
	}
	if now, err := f.Stat(); err != nil || !Unchanged(now, f.Info()) {
		return errors.Join(file.ErrVerifyCopy, err)
	}
	return dst.SetModTime(to, st.ModTime)
}

func copyDir(src *folder, from string, dst *folder, to string, st Info) error {
	h, err := src.Enter(from)
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
	out, err := dst.Enter(to)
	if err != nil {
		return err
	}
	defer out.Close()
	for _, e := range entries {
		if err := copyEntry(h, e.Name, out, e.Name); err != nil {
			return err
		}
	}
	return errors.Join(dst.Chmod(to, st.Mode.Perm()), out.Sync())
}

// owner identifies this process.
func (r *Root) owner() owner { return self() }

const noSpace = "00000000"

// abandoned reports whether a temporary file is no longer in use: this process made
// and released it, its maker has ended, or it is at least doubtfulAge old.
func (r *Root) abandoned(t tempName, info Info) bool {
	return r.temps.leftOver(t) || makerGone(t.owner) || time.Since(info.ModTime) >= doubtfulAge
}

// cleanTemp removes a temporary file that is not in use. The backup of a rewrite
// in place gets a visible name if the file has neither its old nor its new
// content.
func (r *Root) cleanTemp(d *Dir, e Entry, res *Cleaned) error {
	name := e.Name
	t, err := parseTempName(name)
	if err != nil {
		return nil // a file of another program with a similar name
	}
	st, err := d.h.Lstat(name)
	if err != nil || !r.abandoned(t, st) {
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
	if old := data[backupHeader:]; !ok || version.Of(old) != b.old {
		return nil // incomplete backup, so nothing was overwritten
	}
	if now, err := d.openFile(b.base); err == nil {
		have, err := now.readAll(b.base, maxWhole)
		now.Close()
		if v := version.Of(have); err == nil && (v == b.old || v == b.new) {
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
