//go:build (!linux && !windows) || (linux && portable)

package rootfs

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/text/unicode/norm"
)

// dirHandle is an open folder, on os.Root. Its names have no separator. os.Root
// follows symlinks that stay inside, so what was opened is compared with the
// entry of that name: a symlink that was swapped in shows up as a difference.
type dirHandle struct{ h *os.Root }

func openTop(dir string) (*dirHandle, error) {
	h, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &dirHandle{h}, nil
}

func (d *dirHandle) clone() (*dirHandle, error) {
	h, err := d.h.OpenRoot(".")
	if err != nil {
		return nil, rootErr(err)
	}
	return &dirHandle{h}, nil
}

func (d *dirHandle) close() error { return d.h.Close() }

// enter opens the folder called name, which must not be a symlink.
func (d *dirHandle) enter(name string) (*dirHandle, error) {
	st, err := d.h.Lstat(name)
	if err != nil {
		return nil, portableErr(err)
	}
	switch typeOfFileMode(st.Mode()) {
	case TypeDir:
	case TypeSymlink:
		return nil, errSwapped
	default:
		return nil, syscall.ENOTDIR
	}
	next, err := d.h.OpenRoot(name)
	if err != nil {
		return nil, portableErr(err)
	}
	got, err := next.Stat(".")
	if err == nil && !os.SameFile(st, got) {
		err = errSwapped
	}
	if err != nil {
		next.Close()
		return nil, err
	}
	return &dirHandle{next}, nil
}

// regular opens a regular file for reading.
func (d *dirHandle) regular(name string) (*os.File, Info, error) {
	st, err := d.h.Lstat(name)
	if err != nil {
		return nil, Info{}, portableErr(err)
	}
	switch typeOfFileMode(st.Mode()) {
	case TypeFile:
	case TypeSymlink:
		return nil, Info{}, errSwapped
	default:
		return nil, Info{}, errNotRegular
	}
	f, err := d.h.OpenFile(name, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, Info{}, portableErr(err)
	}
	got, err := f.Stat()
	if err == nil && !os.SameFile(st, got) {
		err = errSwapped
	}
	if err != nil {
		f.Close()
		return nil, Info{}, err
	}
	return f, infoOfFile(got), nil
}

func (d *dirHandle) stat() (Info, error) {
	st, err := d.h.Stat(".")
	if err != nil {
		return Info{}, rootErr(err)
	}
	return infoOfFile(st), nil
}

func (d *dirHandle) lstat(name string) (Info, error) {
	st, err := d.h.Lstat(name)
	if err != nil {
		return Info{}, portableErr(err)
	}
	return infoOfFile(st), nil
}

func (d *dirHandle) readlink(name string) (string, error) {
	target, err := d.h.Readlink(name)
	return target, portableErr(err)
}

func (d *dirHandle) entries(buf []Entry) ([]Entry, error) {
	f, err := d.h.Open(".")
	if err != nil {
		return buf, portableErr(err)
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	for _, e := range entries {
		buf = append(buf, Entry{Name: e.Name(), Type: typeOfFileMode(e.Type())})
	}
	return buf, err
}

// create makes a file that wasn't there, for reading and writing.
func (d *dirHandle) create(name string, perm fs.FileMode) (*os.File, error) {
	f, err := d.h.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
	return f, portableErr(err)
}

// openWrite opens an existing file for writing.
func (d *dirHandle) openWrite(name string) (*os.File, error) {
	f, err := d.h.OpenFile(name, os.O_WRONLY|openNonblock, 0)
	return f, portableErr(err)
}

// openLog opens a file of our own state for reading and appending.
func (d *dirHandle) openLog(name string, create bool) (*os.File, error) {
	flags := os.O_RDWR | os.O_APPEND | openNonblock
	if create {
		flags |= os.O_CREATE
	}
	f, err := d.h.OpenFile(name, flags, 0o600)
	return f, portableErr(err)
}

// replace renames a file over another.
func (d *dirHandle) replace(from, to string, _ bool) error {
	return portableErr(d.h.Rename(from, to))
}

func (d *dirHandle) remove(name string) error { return portableErr(d.h.Remove(name)) }

func (d *dirHandle) removeAll(name string) error { return portableErr(d.h.RemoveAll(name)) }

func (d *dirHandle) mkdir(name string, perm fs.FileMode) error {
	return portableErr(d.h.Mkdir(name, perm))
}

func (d *dirHandle) symlink(target, name string, _ bool) error {
	return portableErr(d.h.Symlink(target, name))
}

func (d *dirHandle) chmod(name string, mode fs.FileMode) error {
	return portableErr(d.h.Chmod(name, mode))
}

func (d *dirHandle) setModTime(name string, t time.Time) error {
	return portableErr(d.h.Chtimes(name, time.Time{}, t))
}

// sync makes names durable if the system can.
func (d *dirHandle) sync() error {
	f, err := d.h.Open(".")
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	return errors.Join(err, f.Close())
}

// move renames without overwriting. It uses one call if the system has it. Within
// one folder it makes a second link if possible. Otherwise it checks first, and
// another program may be faster.
func (d *dirHandle) move(name string, to *dirHandle, base string) error {
	if renamesExclusively || d != to {
		return portableErr(renameBetween(d.h, name, to.h, base))
	}
	err := d.h.Link(name, base)
	if err == nil {
		return portableErr(d.h.Remove(name))
	}
	if errors.Is(err, os.ErrExist) {
		return syscall.EEXIST
	}
	return portableErr(renameBetween(d.h, name, to.h, base))
}

// renameWithin moves an entry between folders of the root. If anything is at to,
// it is from itself in another spelling.
func (r *Root) renameWithin(op string, from, to Path) error {
	return r.in(op, from, func(src *dirHandle, name string) error {
		return r.in(op, to, func(dir *dirHandle, base string) error {
			if from.Dir() == to.Dir() && strings.EqualFold(norm.NFC.String(name), norm.NFC.String(base)) {
				return src.replace(name, base, true)
			}
			return src.move(name, dir, base)
		})
	})
}

func lstatPath(path string) (Info, error) {
	st, err := os.Lstat(path)
	if err != nil {
		return Info{}, err
	}
	return infoOfFile(st), nil
}

func statFile(f *os.File) (Info, error) {
	st, err := f.Stat()
	if err != nil {
		return Info{}, err
	}
	return infoOfFile(st), nil
}

// rootErr recognises use after Close.
func rootErr(err error) error {
	if errors.Is(err, os.ErrClosed) {
		return ErrClosed
	}
	return err
}

// portableErr unwraps errors of os.Root. If os.Root noticed an escape, a symlink
// appeared after the check.
func portableErr(err error) error {
	if err == nil {
		return nil
	}
	var n syscall.Errno
	if errors.As(err, &n) {
		return n
	}
	if strings.Contains(err.Error(), "escapes") {
		return errSwapped
	}
	return rootErr(err)
}

func typeOfFileMode(m fs.FileMode) Type {
	switch {
	case m.IsRegular():
		return TypeFile
	case m.IsDir():
		return TypeDir
	case m&fs.ModeSymlink != 0:
		return TypeSymlink
	}
	return TypeOther
}

func infoOfFile(st fs.FileInfo) Info {
	i := Info{
		Type:    typeOfFileMode(st.Mode()),
		Mode:    st.Mode() & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky),
		Size:    st.Size(),
		ModTime: st.ModTime(),
	}
	fillInfo(&i, st)
	return i
}

// hold has nothing to hold with: locks are advisory here.
func (d *dirHandle) hold(string) (release func(), held bool) { return func() {}, false }

func setMode(f *os.File, mode fs.FileMode) error { return f.Chmod(mode) }

// giveTo gives f the owner of old and reports whether that succeeded.
func giveTo(f *os.File, old Info) bool {
	now, err := statFile(f)
	if err != nil {
		return false
	}
	return now.UID == old.UID && now.GID == old.GID || f.Chown(int(old.UID), int(old.GID)) == nil
}
