//go:build !linux || portable

// The sandbox without Linux's openat2: each folder of a path is opened from the handle of
// its parent (folder), following no symlink.
//
// "go test -tags portable" runs the tests of this version on Linux.

package rootfs

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"

	"quarry/fault"
	"quarry/internal/rootfs/file"
)

type sysRoot struct {
	top  atomic.Pointer[folder]
	left []*folder // earlier top folders, replaced by follow; guarded by Root.following
}

func (s *sysRoot) open(dir string) error {
	h, err := openTop(dir)
	if err == nil {
		s.top.Store(h)
	}
	return err
}

func (s *sysRoot) root() *folder { return s.top.Load() }

// listen does nothing: only Linux has layers.
func (s *sysRoot) listen(*Layer) {}

func (s *sysRoot) close() error {
	for _, h := range s.left {
		h.Close()
	}
	return s.root().Close()
}

func (s *sysRoot) probe(rel string) (Type, string, error) {
	if rel == "" {
		return TypeDir, "", nil
	}
	dir, base, err := s.openParent(rel)
	if err != nil {
		return TypeUnknown, "", err
	}
	defer dir.Close()
	st, err := dir.Lstat(base)
	if err != nil {
		return TypeUnknown, "", err
	}
	if st.Type != TypeSymlink {
		return st.Type, "", nil
	}
	target, err := dir.Readlink(base)
	return TypeSymlink, target, err
}

// openParent opens the folder of rel and returns it with the last name.
func (s *sysRoot) openParent(rel string) (*folder, string, error) {
	dir, base := "", rel
	if i := strings.LastIndexByte(rel, '/'); i >= 0 {
		dir, base = rel[:i], rel[i+1:]
	}
	h, err := s.openDir(dir)
	return h, base, err
}

// openDir opens rel folder by folder, following no symlink.
func (s *sysRoot) openDir(rel string) (*folder, error) {
	h, err := s.root().Clone()
	if err != nil {
		return nil, err
	}
	for rel != "" {
		var name string
		name, rel, _ = strings.Cut(rel, "/")
		next, err := h.Enter(name)
		h.Close()
		if err != nil {
			return nil, err
		}
		h = next
	}
	return h, nil
}

// File is an open regular file, for reading. It must be closed.
type File struct {
	f    *os.File
	info Info
}

// OpenFile opens the regular file at p. Anything else is NotRegular; it does not block on a
// FIFO and opens no device.
func (r *Root) OpenFile(p Path) (*File, error) {
	if err := r.policy.check("open", p.String(), p, false); err != nil {
		return nil, err
	}
	if p.IsRoot() {
		return nil, &fault.PathError{Op: "open", Path: ".", Kind: fault.NotRegular}
	}
	var f *File
	err := r.retry("open", &p, func(rel string) error {
		dir, base, err := r.sys.openParent(rel)
		if err != nil {
			return err
		}
		defer dir.Close()
		f, err = openRegular(dir, base)
		return err
	})
	return r.policy.admit(f, p, err)
}

// OpenSeen is OpenFile for a path that the caller has listed as a regular file.
func (r *Root) OpenSeen(p Path) (*File, error) { return r.OpenFile(p) }

func openRegular(dir *folder, name string) (*File, error) {
	f, info, err := dir.Regular(name)
	if err != nil {
		return nil, err
	}
	return &File{f: f, info: info}, nil
}

// Read reads from the file's position; it returns io.EOF at the end.
func (f *File) Read(b []byte) (int, error) {
	n, err := f.f.Read(b)
	return n, readErr(err)
}

// ReadAt implements io.ReaderAt.
func (f *File) ReadAt(b []byte, off int64) (int, error) {
	n, err := f.f.ReadAt(b, off)
	return n, readErr(err)
}

func readErr(err error) error {
	if err == io.EOF {
		return err
	}
	return Wrap("read", "file", err)
}

// Info describes the file as it was when opened.
func (f *File) Info() Info { return f.info }

// Stat describes the file as it is now.
func (f *File) Stat() (Info, error) {
	info, err := statFile(f.f)
	return info, Wrap("stat", "file", err)
}

// Close releases the file. Closing twice is harmless.
func (f *File) Close() error {
	if err := f.f.Close(); !errors.Is(err, os.ErrClosed) {
		return Wrap("close", "file", err)
	}
	return nil
}

// Dir is an open folder. Opening its entries can't leave the root: names have
// no separator and no symlink is followed.
type Dir struct {
	h    *folder
	path Path
	root *Root
}

func (r *Root) openFolder(rel string) (*Dir, error) {
	h, err := r.sys.openDir(rel)
	return &Dir{h: h}, err
}

// openDir is OpenDir for a checked name.
func (d *Dir) openDir(name string) (*Dir, error) {
	h, err := d.h.Enter(name)
	if err == file.ErrSwapped {
		err = syscall.ENOTDIR
	}
	if err != nil {
		return nil, Wrap("open", d.path.child(name).s, err)
	}
	return &Dir{h: h, path: d.path.child(name), root: d.root}, nil
}

// openFile is OpenFile for a checked name.
func (d *Dir) openFile(name string) (*File, error) {
	f, err := openRegular(d.h, name)
	if err == file.ErrSwapped {
		err = file.ErrNotRegular
	}
	if err != nil {
		return nil, Wrap("open", d.path.child(name).s, err)
	}
	return f, nil
}

// Info describes the folder itself.
func (d *Dir) Info() (Info, error) {
	info, err := d.h.Stat()
	return info, Wrap("stat", d.path.String(), err)
}

// Read appends all entries of the folder to buf, in the system's order.
func (d *Dir) Read(buf []Entry) ([]Entry, error) {
	buf, err := d.h.Entries(buf)
	return buf, Wrap("list", d.path.String(), err)
}

// Close releases the folder. Closing twice is harmless.
func (d *Dir) Close() error { return Wrap("close", d.path.String(), d.h.Close()) }

func (r *Root) statRel(rel string) (Info, error) {
	if rel == "" {
		return r.sys.root().Stat()
	}
	dir, base, err := r.sys.openParent(rel)
	if err != nil {
		return Info{}, err
	}
	defer dir.Close()
	return dir.Lstat(base)
}

// FSKind returns the kind of file system.
func (r *Root) FSKind() FSKind { return r.sys.root().FSKind() }

const backslashSeparates = filepath.Separator == '\\'

// pathEqual compares absolute paths as the system does.
func pathEqual(a, b string) bool {
	if backslashSeparates {
		return strings.EqualFold(a, b)
	}
	return a == b
}

func (d *Dir) lstat(name string) (Info, error) { return d.h.Lstat(name) }
