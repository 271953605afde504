//go:build unix

package posix

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"quarry/internal/rootfs/file"
)

// Folder is an open folder, based on os.Root. Names have no separator. See the package comment on symlinks.
type Folder struct{ h *os.Root }

// Open opens the folder at an absolute path, following symlinks.
func Open(dir string) (*Folder, error) {
	h, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Folder{h}, nil
}

// Clone opens the folder a second time.
func (d *Folder) Clone() (*Folder, error) {
	h, err := d.h.OpenRoot(".")
	if err != nil {
		return nil, rootErr(err)
	}
	return &Folder{h}, nil
}

// Close releases the folder.
func (d *Folder) Close() error { return d.h.Close() }

// Enter opens the folder called name, which must not be a symlink.
func (d *Folder) Enter(name string) (*Folder, error) {
	st, err := d.h.Lstat(name)
	if err != nil {
		return nil, portableErr(err)
	}
	switch typeOfFileMode(st.Mode()) {
	case file.TypeDir:
	case file.TypeSymlink:
		return nil, file.ErrSwapped
	default:
		return nil, syscall.ENOTDIR
	}
	next, err := d.h.OpenRoot(name)
	if err != nil {
		return nil, portableErr(err)
	}
	got, err := next.Stat(".")
	if err == nil && !os.SameFile(st, got) {
		err = file.ErrSwapped
	}
	if err != nil {
		next.Close()
		return nil, err
	}
	return &Folder{next}, nil
}

// Regular opens a regular file for reading.
func (d *Folder) Regular(name string) (*os.File, file.Info, error) {
	st, err := d.h.Lstat(name)
	if err != nil {
		return nil, file.Info{}, portableErr(err)
	}
	switch typeOfFileMode(st.Mode()) {
	case file.TypeFile:
	case file.TypeSymlink:
		return nil, file.Info{}, file.ErrSwapped
	default:
		return nil, file.Info{}, file.ErrNotRegular
	}
	f, err := d.h.OpenFile(name, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, file.Info{}, portableErr(err)
	}
	got, err := f.Stat()
	if err == nil && !os.SameFile(st, got) {
		err = file.ErrSwapped
	}
	if err != nil {
		f.Close()
		return nil, file.Info{}, err
	}
	return f, infoOfFile(got), nil
}

// Stat describes the folder itself.
func (d *Folder) Stat() (file.Info, error) {
	st, err := d.h.Stat(".")
	if err != nil {
		return file.Info{}, rootErr(err)
	}
	return infoOfFile(st), nil
}

// Lstat describes an entry without following symlinks.
func (d *Folder) Lstat(name string) (file.Info, error) {
	st, err := d.h.Lstat(name)
	if err != nil {
		return file.Info{}, portableErr(err)
	}
	return infoOfFile(st), nil
}

// Readlink returns the target of a symlink, as written in it.
func (d *Folder) Readlink(name string) (string, error) {
	target, err := d.h.Readlink(name)
	return target, portableErr(err)
}

// Entries appends all entries to buf, in the system's order.
func (d *Folder) Entries(buf []file.Entry) ([]file.Entry, error) {
	f, err := d.h.Open(".")
	if err != nil {
		return buf, portableErr(err)
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	for _, e := range entries {
		buf = append(buf, file.Entry{Name: e.Name(), Type: typeOfFileMode(e.Type())})
	}
	return buf, err
}

// Create makes a new file for reading and writing.
func (d *Folder) Create(name string, perm fs.FileMode) (*os.File, error) {
	f, err := d.h.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
	return f, portableErr(err)
}

// OpenWrite opens an existing file for writing.
func (d *Folder) OpenWrite(name string) (*os.File, error) {
	f, err := d.h.OpenFile(name, os.O_WRONLY|openNonblock, 0)
	return f, portableErr(err)
}

// OpenLog opens a file of our own state for reading and appending.
func (d *Folder) OpenLog(name string, create bool) (*os.File, error) {
	flags := os.O_RDWR | os.O_APPEND | openNonblock
	if create {
		flags |= os.O_CREATE
	}
	f, err := d.h.OpenFile(name, flags, 0o600)
	if !create && (errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)) { // read-only, but it can be locked
		f, err = d.h.OpenFile(name, os.O_RDONLY|openNonblock, 0)
	}
	return f, portableErr(err)
}

// Replace renames a file over another.
func (d *Folder) Replace(from, to string, _ bool) error {
	return portableErr(d.h.Rename(from, to))
}

// Remove deletes a file, a symlink or an empty folder.
func (d *Folder) Remove(name string) error { return portableErr(d.h.Remove(name)) }

// RemoveAll deletes an entry with its contents.
func (d *Folder) RemoveAll(name string) error { return portableErr(d.h.RemoveAll(name)) }

// Mkdir makes a folder.
func (d *Folder) Mkdir(name string, perm fs.FileMode) error {
	return portableErr(d.h.Mkdir(name, perm))
}

// Symlink makes a symlink.
func (d *Folder) Symlink(target, name string, _ bool) error {
	return portableErr(d.h.Symlink(target, name))
}

// Chmod sets an entry's permissions.
func (d *Folder) Chmod(name string, mode fs.FileMode) error {
	return portableErr(d.h.Chmod(name, mode))
}

// SetModTime sets an entry's modification time.
func (d *Folder) SetModTime(name string, t time.Time) error {
	return portableErr(d.h.Chtimes(name, time.Time{}, t))
}

// Sync makes names durable if the system can.
func (d *Folder) Sync() error {
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

// Move renames without overwriting, by one call if the system has it. Otherwise, within one
// folder, it makes a second link and removes the first if possible. The last resort is a
// check before the rename; a file created in between is overwritten.
func (d *Folder) Move(name string, to *Folder, base string) error {
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

// LstatPath describes the entry at an absolute path without following a symlink there.
func LstatPath(path string) (file.Info, error) {
	st, err := os.Lstat(path)
	if err != nil {
		return file.Info{}, err
	}
	return infoOfFile(st), nil
}

// StatFile describes an open file.
func StatFile(f *os.File) (file.Info, error) {
	st, err := f.Stat()
	if err != nil {
		return file.Info{}, err
	}
	return infoOfFile(st), nil
}

// rootErr recognizes use after Close.
func rootErr(err error) error {
	if errors.Is(err, os.ErrClosed) {
		return file.ErrClosed
	}
	return err
}

// portableErr unwraps errors of os.Root. An escape from the root is ErrSwapped, because it
// means that a symlink was created after the check.
func portableErr(err error) error {
	if err == nil {
		return nil
	}
	var n syscall.Errno
	if errors.As(err, &n) {
		return n
	}
	if strings.Contains(err.Error(), "escapes") {
		return file.ErrSwapped
	}
	return rootErr(err)
}

func typeOfFileMode(m fs.FileMode) file.Type {
	switch {
	case m.IsRegular():
		return file.TypeFile
	case m.IsDir():
		return file.TypeDir
	case m&fs.ModeSymlink != 0:
		return file.TypeSymlink
	}
	return file.TypeOther
}

func infoOfFile(st fs.FileInfo) file.Info {
	i := file.Info{
		Type:    typeOfFileMode(st.Mode()),
		Mode:    st.Mode() & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky),
		Size:    st.Size(),
		ModTime: st.ModTime(),
	}
	fillInfo(&i, st)
	return i
}

// Hold does nothing, because locks are only advisory on this system.
func (d *Folder) Hold(string) (release func(), held bool) { return func() {}, false }

// SetMode sets the permissions of an open file.
func SetMode(f *os.File, mode fs.FileMode) error { return f.Chmod(mode) }

// giveTo gives f the owner of old and reports whether that succeeded.
func giveTo(f *os.File, old file.Info) bool {
	now, err := StatFile(f)
	if err != nil {
		return false
	}
	return now.UID == old.UID && now.GID == old.GID || f.Chown(int(old.UID), int(old.GID)) == nil
}
