//go:build !linux || portable

// The same sandbox on os.Root. It is slower, and os.Root follows symlinks that
// stay inside, so a folder is entered name by name and each handle compared
// with what the name stood for: a symlink swapped in shows as a difference.
//
// "go test -tags portable" runs the tests of this version on Linux.

package rootfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

type sysRoot struct {
	root *os.Root
}

func (s *sysRoot) open(dir string) (err error) {
	s.root, err = os.OpenRoot(dir)
	return err
}

// listen is Linux only.
func (s *sysRoot) listen(*Layer) {}

func (s *sysRoot) close() error { return s.root.Close() }

// FSKind is not known here.
func (r *Root) FSKind() FSKind { return FSUnknown }

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
		return TypeUnknown, "", portableErr(err)
	}
	t := typeOfFileMode(st.Mode())
	if t != TypeSymlink {
		return t, "", nil
	}
	target, err := dir.Readlink(base)
	return t, target, portableErr(err)
}

// openParent opens the folder of rel and returns it with the last name.
func (s *sysRoot) openParent(rel string) (*os.Root, string, error) {
	dir, base := "", rel
	if i := strings.LastIndexByte(rel, '/'); i >= 0 {
		dir, base = rel[:i], rel[i+1:]
	}
	h, err := s.openDir(dir)
	return h, base, err
}

// openDir enters rel name by name, following no symlink.
func (s *sysRoot) openDir(rel string) (*os.Root, error) {
	h, err := s.root.OpenRoot(".")
	if err != nil {
		return nil, rootErr(err)
	}
	for rel != "" {
		var name string
		name, rel, _ = strings.Cut(rel, "/")
		next, err := enter(h, name)
		h.Close()
		if err != nil {
			return nil, err
		}
		h = next
	}
	return h, nil
}

// enter opens the folder called name in h, which must not be a symlink.
func enter(h *os.Root, name string) (*os.Root, error) {
	st, err := h.Lstat(name)
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
	next, err := h.OpenRoot(name)
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
	return next, nil
}

// rootErr recognises use after Close.
func rootErr(err error) error {
	if errors.Is(err, os.ErrClosed) {
		return errClosed
	}
	return err
}

// portableErr unpacks what os.Root says. An escape it noticed is a symlink that
// wasn't there when we looked.
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
	return err
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

// File is an open regular file, for reading. It must be closed.
type File struct {
	f    *os.File
	info Info
}

// OpenFile opens the regular file at p. Anything else is NotRegular: a FIFO
// doesn't block, a device isn't touched.
func (r *Root) OpenFile(p Path) (*File, error) {
	if err := r.policy.check("open", p.String(), p, false); err != nil {
		return nil, err
	}
	if p.IsRoot() {
		return nil, &Error{Op: "open", Path: ".", Kind: NotRegular}
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
	if err != nil {
		return nil, err
	}
	return f, nil
}

func openRegular(dir *os.Root, name string) (*File, error) {
	st, err := dir.Lstat(name)
	if err != nil {
		return nil, portableErr(err)
	}
	switch typeOfFileMode(st.Mode()) {
	case TypeFile:
	case TypeSymlink:
		return nil, errSwapped
	default:
		return nil, errNotRegular
	}
	f, err := dir.OpenFile(name, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, portableErr(err)
	}
	got, err := f.Stat()
	if err == nil && !os.SameFile(st, got) {
		err = errSwapped
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &File{f: f, info: infoOfFile(got)}, nil
}

// Read reads from the file's position; it returns io.EOF at the end.
func (f *File) Read(b []byte) (int, error) {
	n, err := f.f.Read(b)
	return n, readErr(err)
}

// ReadAt reads at an offset, as io.ReaderAt asks.
func (f *File) ReadAt(b []byte, off int64) (int, error) {
	n, err := f.f.ReadAt(b, off)
	return n, readErr(err)
}

func readErr(err error) error {
	if err == io.EOF {
		return err
	}
	return wrap("read", "file", err)
}

// Info describes the file as it was when opened.
func (f *File) Info() Info { return f.info }

// Stat describes the file as it is now.
func (f *File) Stat() (Info, error) {
	st, err := f.f.Stat()
	if err != nil {
		return Info{}, wrap("stat", "file", err)
	}
	return infoOfFile(st), nil
}

// Close releases the file. Closing twice is harmless.
func (f *File) Close() error {
	if err := f.f.Close(); !errors.Is(err, os.ErrClosed) {
		return wrap("close", "file", err)
	}
	return nil
}

// Dir is an open folder. Opening its entries can't leave the root: names have
// no separator and no symlink is followed.
type Dir struct {
	h    *os.Root
	path Path
	root *Root
}

// OpenDir opens the folder at p.
func (r *Root) OpenDir(p Path) (*Dir, error) {
	if err := r.policy.check("open", p.String(), p, true); err != nil {
		return nil, err
	}
	var h *os.Root
	err := r.retry("open", &p, func(rel string) (err error) {
		h, err = r.sys.openDir(rel)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &Dir{h: h, path: p, root: r}, nil
}

// openDir is OpenDir for names that were judged.
func (d *Dir) openDir(name string) (*Dir, error) {
	h, err := enter(d.h, name)
	if err == errSwapped {
		err = syscall.ENOTDIR
	}
	if err != nil {
		return nil, wrap("open", d.path.child(name).s, err)
	}
	return &Dir{h: h, path: d.path.child(name), root: d.root}, nil
}

// openFile is OpenFile for names that were judged.
func (d *Dir) openFile(name string) (*File, error) {
	f, err := openRegular(d.h, name)
	if err == errSwapped {
		err = errNotRegular
	}
	if err != nil {
		return nil, wrap("open", d.path.child(name).s, err)
	}
	return f, nil
}

// Stat describes the entry called name; a symlink is described itself.
func (d *Dir) Stat(name string) (Info, error) {
	if err := checkName(name); err != nil {
		return Info{}, &Error{Op: "stat", Path: name, Kind: InvalidArgument, Err: err}
	}
	st, err := d.h.Lstat(name)
	if err != nil {
		return Info{}, wrap("stat", d.path.child(name).s, portableErr(err))
	}
	if v := d.root.policy.Entry(d.path, name, st.IsDir()); v.Refused() {
		p := d.path.child(name)
		return Info{}, d.root.policy.refusal("stat", p.s, p, v)
	}
	return infoOfFile(st), nil
}

// Info describes the folder itself.
func (d *Dir) Info() (Info, error) {
	st, err := d.h.Stat(".")
	if err != nil {
		return Info{}, wrap("stat", d.path.String(), err)
	}
	return infoOfFile(st), nil
}

// Read appends all entries of the folder to buf, in the system's order.
func (d *Dir) Read(buf []Entry) ([]Entry, error) {
	f, err := d.h.Open(".")
	if err != nil {
		return buf, wrap("list", d.path.String(), portableErr(err))
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	for _, e := range entries {
		t := typeOfFileMode(e.Type())
		if e.Type()&fs.ModeIrregular != 0 {
			t = TypeOther
		}
		buf = append(buf, Entry{Name: e.Name(), Type: t})
	}
	return buf, wrap("list", d.path.String(), err)
}

// Close releases the folder. Closing twice is harmless.
func (d *Dir) Close() error { return wrap("close", d.path.String(), d.h.Close()) }

func (d *Dir) admitName(name string, isDir bool) error {
	if err := checkName(name); err != nil {
		return &Error{Op: "open", Path: name, Kind: InvalidArgument, Err: err}
	}
	if v := d.root.policy.Entry(d.path, name, isDir); v.Refused() {
		p := d.path.child(name)
		return d.root.policy.refusal("open", p.s, p, v)
	}
	return nil
}

// Stat describes what is at p. A symlink there is one that appeared after p was
// resolved, or p names it on purpose (ResolveEntry): it is described itself.
func (r *Root) Stat(p Path) (Info, error) {
	var info Info
	err := r.retry("stat", &p, func(rel string) error {
		if rel == "" {
			rel = "."
		}
		dir, base, err := r.sys.openParent(rel)
		if err != nil {
			return err
		}
		defer dir.Close()
		st, err := dir.Lstat(base)
		if err != nil {
			return portableErr(err)
		}
		info = infoOfFile(st)
		return nil
	})
	if err == nil {
		err = r.policy.check("stat", p.String(), p, info.Type == TypeDir)
	}
	if err != nil {
		return Info{}, err
	}
	return info, nil
}

const backslashSeparates = filepath.Separator == '\\'

// pathEqual compares absolute paths as the system does.
func pathEqual(a, b string) bool {
	if backslashSeparates {
		return strings.EqualFold(a, b)
	}
	return a == b
}
