//go:build linux && !portable

package rootfs

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// errUnpreservable says that a new inode can't be made to look like the old
// one, so the old one has to be rewritten in place.
var errUnpreservable = errors.New("owner or attributes can't be carried over")

// meta is all metadata that an exchange of inodes has to preserve, and the number
// of names. Two are compared with ==.
type meta struct {
	mode            fs.FileMode
	uid, gid, nlink uint32
	flags           uint32 // those of chattr that a user may set
	xattrs          string // names and values
}

// chattrFlags are the flags of chattr that a user or root sets, without those
// that describe how a file system stores the file. Immutable and append-only
// files can't be replaced at all.
const (
	chattrFlags = 0x1 | 0x2 | 0x4 | 0x8 | nodumpFlag | 0x80 | 0x400 | 0x4000 | 0x8000 | 0x800000 | 0x2000000 // s u c S d A m j t C x of chattr(1); numbers of <linux/fs.h>
	nodumpFlag  = 0x40
)

// metaOf reads what copyMeta copies. It is called several times for each change,
// so it makes only a few system calls.
func metaOf(fd int) (meta, error) {
	info, err := infoAt(fd, "", unix.AT_EMPTY_PATH)
	if err != nil {
		return meta{}, err
	}
	m := meta{mode: info.Mode, uid: info.UID, gid: info.GID, nlink: info.Nlink, flags: flagsOf(fd)}
	names, err := listXattrs(fd)
	if err != nil {
		return meta{}, err
	}
	slices.Sort(names)
	var b strings.Builder
	for _, name := range names {
		value, err := getXattr(fd, name)
		if err == unix.ENODATA {
			continue
		}
		if err != nil {
			return meta{}, err
		}
		fmt.Fprintf(&b, "%s=%d:%s", name, len(value), value)
	}
	m.xattrs = b.String()
	return m, nil
}

// flagsOf are the flags of chattr; none where the file system has none.
func flagsOf(fd int) uint32 {
	flags, err := unix.IoctlGetUint32(fd, unix.FS_IOC_GETFLAGS)
	if err != nil {
		return 0
	}
	return flags & chattrFlags
}

// copyFlags gives to the flags of chattr that from has.
func copyFlags(from, to int) error {
	want := flagsOf(from)
	if want == flagsOf(to) {
		return nil
	}
	have, err := unix.IoctlGetUint32(to, unix.FS_IOC_GETFLAGS)
	if err == nil {
		err = unix.IoctlSetPointerInt(to, unix.FS_IOC_SETFLAGS, int(have&^chattrFlags|want))
	}
	if err != nil || flagsOf(to) != want {
		return errUnpreservable
	}
	return nil
}

// copyMeta gives to the owner, mode and extended attributes of from, which
// include its access control list. It comes after the writing, because writing
// drops set-id bits and capabilities.
func (r *Root) copyMeta(from int, info Info, to int) error {
	now, err := r.fdInfo(to)
	if err != nil {
		return err
	}
	if now.UID != info.UID || now.GID != info.GID {
		if err := r.chown(to, info.UID, info.GID); err == unix.EPERM || err == unix.EINVAL {
			return errUnpreservable
		} else if err != nil {
			return err
		}
	}
	if err := r.chmod(to, unixMode(info.Mode)); err != nil {
		return err
	}
	if err := r.copyXattrs(from, to); err != nil {
		return err
	}
	return copyFlags(from, to)
}

func (r *Root) copyXattrs(from, to int) error {
	want, err := listXattrs(from)
	if err != nil {
		return err
	}
	have, err := listXattrs(to)
	if err != nil {
		return err
	}
	for _, name := range have { // such as a list inherited from the folder
		if !slices.Contains(want, name) && ours(name) {
			if err := unix.Fremovexattr(to, name); err != nil && err != unix.ENODATA {
				return errUnpreservable
			}
		}
	}
	for _, name := range want {
		value, err := getXattr(from, name)
		if err == unix.ENODATA {
			continue
		}
		if err != nil {
			return err
		}
		if old, err := getXattr(to, name); err == nil && bytes.Equal(old, value) {
			continue
		}
		switch err := r.setxattr(to, name, value); {
		case err == nil:
		case !ours(name) && (err == unix.EPERM || err == unix.ENOTSUP || err == unix.EACCES || err == unix.EINVAL):
			// A label that only the system may set; it has set one on the new
			// file.
		case err == unix.EPERM || err == unix.ENOTSUP || err == unix.EACCES:
			return errUnpreservable
		default:
			return err
		}
	}
	return nil
}

// ours reports whether an attribute belongs to the file's user and not to the
// system.
func ours(name string) bool {
	return strings.HasPrefix(name, "user.") || strings.HasPrefix(name, "system.posix_acl_")
}

func listXattrs(fd int) ([]string, error) {
	b, err := growing(func(b []byte) (int, error) { return unix.Flistxattr(fd, b) })
	if err == unix.ENOTSUP || len(b) == 0 && err == nil {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00"), nil
}

func getXattr(fd int, name string) ([]byte, error) {
	return growing(func(b []byte) (int, error) { return unix.Fgetxattr(fd, name, b) })
}

// growing calls get with larger buffers until the answer fits; the kernel's
// limit is 64 KiB.
func growing(get func([]byte) (int, error)) ([]byte, error) {
	for size := 512; ; size *= 4 {
		b := make([]byte, size)
		n, err := get(b)
		if err == unix.ERANGE && size < 1<<20 {
			continue
		}
		if err != nil {
			return nil, err
		}
		return b[:n], nil
	}
}
