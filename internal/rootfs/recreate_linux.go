//go:build linux && !portable

package rootfs

import (
	"io/fs"
	"time"

	"golang.org/x/sys/unix"
)

// Writer receives the content of a file that CreateFunc makes.
type Writer struct {
	r   *Root
	fd  int
	off int64
}

// Write appends b.
func (w *Writer) Write(b []byte) (int, error) {
	if err := w.r.pwriteAll(w.fd, b, w.off); err != nil {
		return 0, wrap("write", "file", err)
	}
	w.off += int64(len(b))
	return len(b), nil
}

// Clone makes the file share the content of f as it is now, if the file system
// can do that without copying; nothing must have been written before.
func (w *Writer) Clone(f *File) bool {
	if w.off != 0 || unix.IoctlFileClone(w.fd, f.fd) != nil {
		return false
	}
	if info, err := infoAt(w.fd, "", unix.AT_EMPTY_PATH); err == nil {
		w.off = info.Size
	}
	return true
}

// ReadAt reads what was written.
func (w *Writer) ReadAt(b []byte, off int64) (int, error) {
	return (&File{fd: w.fd}).ReadAt(b, off)
}

// SetModTime gives the file another time of last change; it is done last.
func (w *Writer) SetModTime(t time.Time) error { return wrap("utime", "file", w.r.setModTime(w.fd, t)) }

// Create makes a new file at p with the given content, durably. It never
// overwrites: anything at p is AlreadyExists. The folder must exist.
func (r *Root) Create(p Path, data []byte, opts *CreateOptions) (Version, Info, error) {
	fill := func(w *Writer) error { return w.r.pwriteAll(w.fd, data, 0) }
	info, err := r.CreateFunc(p, opts, fill)
	if noSpace(err) && r.letGo() {
		info, err = r.CreateFunc(p, opts, fill)
	}
	if err != nil {
		return Version{}, Info{}, err
	}
	return VersionOf(data), info, nil
}

// CreateFunc is Create for content that isn't held in memory: fill writes it.
// The file appears under its name only when fill has succeeded and everything
// is durable.
func (r *Root) CreateFunc(p Path, opts *CreateOptions, fill func(*Writer) error) (Info, error) {
	const op = "create"
	if err := r.editable(op, p, false); err != nil {
		return Info{}, err
	}
	at, err := r.place(op, p)
	if err != nil {
		return Info{}, err
	}
	defer at.close()
	info, err := r.createFunc(at, opts, fill)
	return info, wrap(op, p.String(), err)
}

func (r *Root) createFunc(at place, opts *CreateOptions, fill func(*Writer) error) (Info, error) {
	if _, err := r.infoAt(at.dir, at.name); err == nil {
		return Info{}, unix.EEXIST
	} else if err != unix.ENOENT {
		return Info{}, err
	}
	temp := r.temps.next(r.owner(), phaseWrite)
	defer r.temps.done(temp)
	name := temp.String()
	// 0666: the umask and the folder's default access list apply as they do to
	// every file a program makes.
	fd, err := r.create(at.dir, name, 0o666)
	if err != nil {
		return Info{}, err
	}
	err = fill(&Writer{r: r, fd: fd})
	if err == nil && opts != nil && opts.Mode != 0 {
		err = r.chmod(fd, unixMode(opts.Mode)) // last: writing drops set-id bits
	}
	if err == nil {
		err = r.sync(fd)
	}
	if e := r.closeWritten(fd); err == nil {
		err = e
	}
	if err == nil {
		err = r.moveFile(at.dir, name, at.dir, at.name)
	}
	if err != nil {
		r.drop(at, name)
		return Info{}, err
	}
	if err := r.syncDir(at.dir); err != nil {
		// It is not durable, so remove it again.
		r.unlink(at.dir, at.name, 0)
		return Info{}, err
	}
	return infoAt(at.dir, at.name, 0)
}

// Symlink makes a symlink to target at p, durably. It never overwrites. The
// policy is applied to target when the link is followed.
func (r *Root) Symlink(target string, p Path) error {
	const op = "symlink"
	if err := r.editable(op, p, false); err != nil {
		return err
	}
	at, err := r.place(op, p)
	if err != nil {
		return err
	}
	defer at.close()
	if err = r.symlink(target, at.dir, at.name); err == nil {
		err = r.syncDir(at.dir)
	}
	return wrap(op, p.String(), err)
}

// MkdirPrivate is Mkdir with mode 0700, whatever the umask.
func (r *Root) MkdirPrivate(p Path) error {
	const op = "mkdir"
	if err := r.editable(op, p, true); err != nil {
		return err
	}
	at, err := r.place(op, p)
	if err != nil {
		return err
	}
	defer at.close()
	if err = r.mkdir(at.dir, at.name, 0o700); err == nil {
		err = r.syncDir(at.dir)
	}
	return wrap(op, p.String(), err)
}

// SetMode gives the file at p other permissions, durably. It follows no symlink,
// and a file whose permissions are not the expected ones is a Conflict.
func (r *Root) SetMode(p Path, expected, mode fs.FileMode) error {
	const op = "chmod"
	if err := r.editable(op, p, false); err != nil {
		return err
	}
	at, err := r.place(op, p)
	if err != nil {
		return err
	}
	defer at.close()
	fd, err := r.openName(at.dir, at.name, flagsFile)
	if err != nil {
		return wrap(op, p.String(), notRegularErr(err))
	}
	err = r.setMode(fd, expected, mode)
	if e := r.closeWritten(fd); err == nil {
		err = e
	}
	return wrap(op, p.String(), err)
}

func (r *Root) setMode(fd int, expected, mode fs.FileMode) error {
	info, err := r.fdInfo(fd)
	switch {
	case err != nil:
		return err
	case info.Type != TypeFile:
		return errNotRegular
	case info.Mode.Perm() != expected.Perm():
		return errMeta
	}
	if err := r.chmod(fd, unixMode(mode)); err != nil {
		return err
	}
	// Some file systems accept any mode and keep their own.
	if info, err = r.fdInfo(fd); err != nil {
		return err
	}
	if info.Mode.Perm() != mode.Perm() {
		return errModeKept
	}
	return r.sync(fd)
}

// SetMeta gives the file or folder at p its permissions and time of last
// change, as they were recorded. It follows no symlink.
func (r *Root) SetMeta(p Path, mode fs.FileMode, mtime time.Time) error {
	const op = "chmod"
	if err := r.editable(op, p, true); err != nil {
		return err
	}
	at, err := r.place(op, p)
	if err != nil {
		return err
	}
	defer at.close()
	fd, err := r.openName(at.dir, at.name, flagsFile)
	if err != nil {
		return wrap(op, p.String(), err)
	}
	info, err := r.fdInfo(fd)
	if err == nil && info.Type != TypeFile && info.Type != TypeDir {
		err = errNotRegular
	}
	if err == nil {
		err = r.policy.check(op, p.String(), at.path, info.Type == TypeDir)
	}
	if err == nil {
		err = r.chmod(fd, unixMode(mode))
	}
	if err == nil {
		err = r.setModTime(fd, mtime)
	}
	if err == nil {
		err = r.syncDir(fd)
	}
	if e := r.closeWritten(fd); err == nil {
		err = e
	}
	return wrap(op, p.String(), err)
}
