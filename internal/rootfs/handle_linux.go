//go:build linux && !portable

package rootfs

import (
	"io/fs"
	"time"

	"quarry/internal/rootfs/linux"
)

// folder is an open folder in which one entry is changed.
type folder = linux.Folder

// within opens the folder of p and calls f with it and the path that was opened.
func (r *Root) within(op string, p Path, f func(dir *folder, p Path) error) error {
	at, err := r.place(op, p)
	if err != nil {
		return err
	}
	defer at.close()
	return Wrap(op, p.String(), f(&folder{Calls: &r.sys.Calls, FD: at.dir}, at.path))
}

// made describes an entry after a successful change.
func made(dir *folder, name string) (Info, error) { return linux.InfoAt(dir.FD, name, 0) }

// dirOf returns the folder with path p as a Dir.
func dirOf(dir *folder, r *Root, p Path) *Dir { return &Dir{fd: dir.FD, path: p, root: r} }

// leadsToDir returns false, because only Windows distinguishes symlinks to folders.
func (r *Root) leadsToDir(string, Path) bool { return false }

// newWriter makes a file with mode 0666, so that the umask and the folder's default access
// list apply as usual.
func newWriter(dir *folder, name string) (*Writer, error) {
	fd, err := dir.Calls.Create(dir.FD, name, 0o666)
	return &Writer{calls: dir.Calls, fd: fd}, err
}

// finish makes a complete file durable, and closes it. A mode of 0 keeps the current
// mode.
func (w *Writer) finish(_ *folder, _ string, mode fs.FileMode, complete bool) (err error) {
	if complete && mode != 0 {
		err = w.calls.Chmod(w.fd, linux.UnixMode(mode)) // last: writing drops set-id bits
	}
	if complete && err == nil {
		err = w.calls.Sync(w.fd)
	}
	if e := w.calls.CloseWritten(w.fd); err == nil {
		err = e
	}
	return err
}

// attributes are the attributes of an open file or folder.
type attributes struct {
	calls *linux.Calls
	fd    int
	isDir bool // known after info
}

// attributesOf opens a file or folder to change its metadata, not its content.
func attributesOf(dir *folder, name string) (*attributes, error) {
	fd, err := dir.Calls.OpenName(dir.FD, name, linux.FlagsFile)
	return &attributes{calls: dir.Calls, fd: fd}, notRegularErr(err)
}

func (a *attributes) info() (Info, error) {
	info, err := a.calls.FDInfo(a.fd)
	a.isDir = info.Type == TypeDir
	return info, err
}

func (a *attributes) sync() error {
	if a.isDir {
		return a.calls.SyncDir(a.fd)
	}
	return a.calls.Sync(a.fd)
}

func (a *attributes) chmod(mode fs.FileMode) error { return a.calls.Chmod(a.fd, linux.UnixMode(mode)) }
func (a *attributes) setModTime(t time.Time) error { return a.calls.SetModTime(a.fd, t) }
func (a *attributes) close() error                 { return a.calls.CloseWritten(a.fd) }
