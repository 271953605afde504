package posix

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"quarry/internal/rootfs/file"
)

// CreateLike makes an empty file with the metadata of old. On APFS it clones the file and
// truncates the clone, which keeps mode, flags, access list and all extended attributes,
// even those that record a download. On other file systems it copies mode, owner and
// extended attributes, and the access list is lost. kept is false if one of them can't be
// set; then old must be rewritten in place.
func (d *Folder) CreateLike(name string, old *os.File, base string, info file.Info) (f *os.File, kept bool, err error) {
	if f, err = d.cloneEmpty(name, base); err == nil {
		kept = giveTo(f, info)
	} else {
		if f, err = d.Create(name, 0o600); err != nil {
			return nil, false, err
		}
		kept = giveTo(f, info) && copyXattrs(f, old)
		if kept {
			err = f.Chmod(info.Mode)
		}
	}
	if err != nil || !kept {
		f.Close()
		d.Remove(name)
		return nil, false, err
	}
	return f, true, nil
}

// cloneACL is CLONE_ACL of sys/clonefile.h. Without it, the clone gets the default access
// list of its folder.
const cloneACL = 0x4

func (d *Folder) cloneEmpty(name, base string) (*os.File, error) {
	dir, err := d.h.Open(".")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	fd := int(dir.Fd())
	if err := unix.Clonefileat(fd, base, fd, name, unix.CLONE_NOFOLLOW|cloneACL); err != nil {
		return nil, err
	}
	f, err := d.h.OpenFile(name, os.O_RDWR, 0)
	if err == nil {
		err = f.Truncate(0)
	}
	if err != nil {
		if f != nil {
			f.Close()
		}
		return nil, errors.Join(err, d.Remove(name))
	}
	return f, nil
}

// copyXattrs copies the extended attributes and reports whether all could be copied.
func copyXattrs(to, from *os.File) bool {
	names := make([]byte, 64<<10)
	n, err := unix.Flistxattr(int(from.Fd()), names)
	if err != nil {
		return errors.Is(err, unix.ENOTSUP)
	}
	value := make([]byte, 1<<20)
	for len(names[:n]) > 0 {
		end := 0
		for end < n && names[end] != 0 {
			end++
		}
		name := string(names[:end])
		size, err := unix.Fgetxattr(int(from.Fd()), name, value)
		if err == nil {
			err = unix.Fsetxattr(int(to.Fd()), name, value[:size], 0)
		}
		if err != nil {
			return false
		}
		if end++; end > n {
			end = n
		}
		names, n = names[end:], n-end
	}
	return true
}
