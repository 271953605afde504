//go:build linux && !portable

package rootfs

import (
	"io"
	"syscall"

	"golang.org/x/sys/unix"

	"quarry/fault"
	"quarry/internal/rootfs/file"
	"quarry/internal/rootfs/linux"
)

// File is an open regular file, for reading. It must be closed.
type File struct {
	fd   int
	info Info
}

// OpenFile opens the regular file at p. Anything else is NotRegular; it does not block on a
// FIFO and opens no device.
func (r *Root) OpenFile(p Path) (*File, error) {
	if err := r.policy.check("open", p.String(), p, false); err != nil {
		return nil, err
	}
	f := new(File)
	err := r.openFile(p.s, f)
	if err == file.ErrSwapped {
		return r.openSwapped(p)
	}
	if err != nil {
		return nil, Wrap("open", p.String(), err)
	}
	return r.policy.admit(f, p, nil)
}

// OpenSeen is OpenFile for a path that the caller has listed as a regular file. If it was
// replaced since, the error is NotRegular, and the call does not block.
func (r *Root) OpenSeen(p Path) (*File, error) {
	if err := r.policy.check("open", p.String(), p, false); err != nil {
		return nil, err
	}
	fd, err := r.sys.openRel(p.s, linux.FlagsFile)
	f := new(File)
	if err == nil {
		err = f.adopt(fd)
	}
	if err == nil {
		return r.policy.admit(f, p, nil)
	}
	return r.OpenFile(p) // its error is more precise
}

// openSwapped is a separate function because its closure would make OpenFile
// allocate.
func (r *Root) openSwapped(p Path) (*File, error) {
	f := new(File)
	if err := r.retry("open", &p, func(rel string) error { return r.openFile(rel, f) }); err != nil {
		return nil, err
	}
	return r.policy.admit(f, p, nil)
}

func (r *Root) openFile(rel string, f *File) error {
	// Check first: opening a device or a FIFO has side effects even without
	// blocking, such as rewinding a tape or waking a writer. The handle is
	// checked again, so if the file is replaced in between, only that side effect
	// can happen.
	if err := r.precheck(rel); err != nil {
		return err
	}
	fd, err := r.sys.openRel(rel, linux.FlagsFile)
	if err != nil {
		return notRegularErr(err)
	}
	return f.adopt(fd)
}

// precheck refuses entries that certainly aren't regular files. Unlike the open after it,
// it follows symlinks in folders. Uncertain entries pass.
func (r *Root) precheck(rel string) error {
	if len(rel) > linux.MaxPath || r.sys.acquire() != nil {
		return nil
	}
	defer r.sys.release()
	var st unix.Statx_t
	if linux.Statx(r.sys.fd, rel, 0, unix.STATX_TYPE, &st) != nil {
		return nil
	}
	switch linux.TypeOfMode(uint32(st.Mode)) {
	case TypeOther, TypeDir:
		return &fault.PathError{Op: "open", Path: rel, Kind: fault.NotRegular}
	}
	return nil
}

// adopt makes fd the handle of f. If it is not a regular file, adopt closes it.
func (f *File) adopt(fd int) error {
	err := linux.Adopt(fd, &f.info)
	if err == nil {
		f.fd = fd
	}
	return err
}

// notRegularErr recognises a socket, which can't be opened at all.
func notRegularErr(err error) error {
	if err == unix.ENXIO || err == unix.ENODEV {
		return file.ErrNotRegular
	}
	return err
}

// Read reads from the file's position; it returns io.EOF at the end.
func (f *File) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	n, err := linux.Read(f.fd, b)
	if err != nil {
		return 0, &fault.PathError{Op: "read", Path: "file", Kind: fault.IOError, Err: err}
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// ReadAt implements io.ReaderAt.
func (f *File) ReadAt(b []byte, off int64) (int, error) {
	done := 0
	for done < len(b) {
		n, err := linux.Pread(f.fd, b[done:], off+int64(done))
		if err != nil {
			return done, &fault.PathError{Op: "read", Path: "file", Kind: fault.IOError, Err: err}
		}
		if n == 0 {
			return done, io.EOF
		}
		done += n
	}
	return done, nil
}

// Info describes the file as it was when opened, without its birth time.
func (f *File) Info() Info { return f.info }

// Stat describes the file as it is now.
func (f *File) Stat() (Info, error) {
	i, err := linux.InfoOf(f.fd)
	return i, Wrap("stat", "file", err)
}

// Close releases the file. Closing twice is harmless.
func (f *File) Close() error {
	if f.fd < 0 {
		return nil
	}
	fd := f.fd
	f.fd = -1
	return Wrap("close", "file", syscall.Close(fd))
}

// localHandle returns the handle of the open file and whether the file is on a local
// disk. On other disks it may change unnoticed.
func (f *File) localHandle() (fd int, local bool) { return f.fd, linux.KindOf(f.fd) == FSLocal }
