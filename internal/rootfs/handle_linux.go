//go:build linux && !portable

package rootfs

import (
	"io/fs"
	"time"

	"golang.org/x/sys/unix"
)

// dirHandle is an open folder in which one entry is changed. All its calls can
// be made to fail by tests.
type dirHandle struct {
	r  *Root
	fd int
}

// within runs f in the folder of p. f gets the path that was opened.
func (r *Root) within(op string, p Path, f func(dir *dirHandle, p Path) error) error {
	at, err := r.place(op, p)
	if err != nil {
		return err
	}
	defer at.close()
	return wrap(op, p.String(), f(&dirHandle{r, at.dir}, at.path))
}

func (d *dirHandle) lstat(name string) (Info, error) { return d.r.infoAt(d.fd, name) }

func (d *dirHandle) made(name string) (Info, error) { return infoAt(d.fd, name, 0) }

func (d *dirHandle) mkdir(name string, perm fs.FileMode) error {
	return d.r.mkdir(d.fd, name, unixMode(perm))
}

func (d *dirHandle) symlink(target, name string, _ bool) error {
	return d.r.symlink(target, d.fd, name)
}

func (d *dirHandle) remove(name string) error {
	err := d.r.unlink(d.fd, name, 0)
	if err == unix.EISDIR {
		err = d.r.unlink(d.fd, name, unix.AT_REMOVEDIR)
	}
	return err
}

func (d *dirHandle) removeAll(name string) error { return d.r.removeTree(d.fd, name) }

func (d *dirHandle) move(name string, to *dirHandle, base string) error {
	return d.r.moveFile(d.fd, name, to.fd, base)
}

func (d *dirHandle) sync() error { return d.r.syncDir(d.fd) }

func (d *dirHandle) dir(r *Root, p Path) *Dir { return &Dir{fd: d.fd, path: p, root: r} }

// leadsToDir is false here: only Windows has a separate kind of link for
// folders.
func (r *Root) leadsToDir(string, Path) bool { return false }

// writer makes a file with mode 0666: the umask and the folder's default access
// list apply as they do to every file a program makes.
func (d *dirHandle) writer(name string) (*Writer, error) {
	fd, err := d.r.create(d.fd, name, 0o666)
	return &Writer{r: d.r, fd: fd}, err
}

// finish makes a file durable if it is complete, and closes it. A mode of 0 keeps
// the one it has.
func (w *Writer) finish(_ *dirHandle, _ string, mode fs.FileMode, complete bool) (err error) {
	if complete && mode != 0 {
		err = w.r.chmod(w.fd, unixMode(mode)) // last: writing drops set-id bits
	}
	if complete && err == nil {
		err = w.r.sync(w.fd)
	}
	if e := w.r.closeWritten(w.fd); err == nil {
		err = e
	}
	return err
}

// attributes are those of an open file or folder.
type attributes struct {
	r     *Root
	fd    int
	isDir bool // known after info
}

func (d *dirHandle) attributes(name string) (*attributes, error) {
	fd, err := d.r.openName(d.fd, name, flagsFile)
	return &attributes{r: d.r, fd: fd}, notRegularErr(err)
}

func (a *attributes) info() (Info, error) {
	info, err := a.r.fdInfo(a.fd)
	a.isDir = info.Type == TypeDir
	return info, err
}

func (a *attributes) sync() error {
	if a.isDir {
		return a.r.syncDir(a.fd)
	}
	return a.r.sync(a.fd)
}

func (a *attributes) chmod(mode fs.FileMode) error { return a.r.chmod(a.fd, unixMode(mode)) }
func (a *attributes) setModTime(t time.Time) error { return a.r.setModTime(a.fd, t) }
func (a *attributes) close() error                 { return a.r.closeWritten(a.fd) }
