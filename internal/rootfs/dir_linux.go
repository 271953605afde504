//go:build linux && !portable

package rootfs

import (
	"syscall"

	"golang.org/x/sys/unix"

	"quarry/internal/rootfs/file"
	"quarry/internal/rootfs/linux"
)

// Dir is an open folder. Opening its entries costs one system call each and
// can't leave the root: names have no separator and no symlink is followed.
type Dir struct {
	fd   int
	path Path
	root *Root
}

func (r *Root) openFolder(rel string) (*Dir, error) {
	fd, err := r.sys.openRel(rel, linux.FlagsDir)
	return &Dir{fd: fd}, err
}

// openDir is OpenDir for a checked name.
func (d *Dir) openDir(name string) (*Dir, error) {
	p := d.path.child(name)
	fd, err := linux.Openat(d.fd, name, linux.FlagsDir, 0)
	if err != nil {
		return nil, Wrap("open", p.s, err)
	}
	return &Dir{fd: fd, path: p, root: d.root}, nil
}

// openFile is OpenFile for a checked name.
func (d *Dir) openFile(name string) (*File, error) {
	fd, err := linux.Openat(d.fd, name, linux.FlagsFile, 0)
	f := new(File)
	if err == nil {
		err = f.adopt(fd)
	}
	if err != nil {
		if err == unix.ELOOP {
			err = file.ErrNotRegular
		}
		return nil, Wrap("open", d.path.child(name).s, notRegularErr(err))
	}
	return f, nil
}

// Info describes the folder itself.
func (d *Dir) Info() (Info, error) {
	i, err := linux.InfoOf(d.fd)
	return i, Wrap("stat", d.path.String(), err)
}

// Close releases the folder. Closing twice is harmless.
func (d *Dir) Close() error {
	if d.fd < 0 {
		return nil
	}
	fd := d.fd
	d.fd = -1
	return Wrap("close", d.path.String(), syscall.Close(fd))
}

func (d *Dir) lstat(name string) (Info, error) { return linux.InfoAt(d.fd, name, 0) }

// Read appends all entries of the folder to buf, in the system's order, without "." and "..". It reads from
// the beginning once; a second Read of the same Dir returns only entries that the system adds, usually none.
func (d *Dir) Read(buf []Entry) ([]Entry, error) {
	buf, err := linux.List(d.fd, buf)
	return buf, Wrap("list", d.path.String(), err)
}
