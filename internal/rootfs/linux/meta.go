//go:build linux

package linux

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"quarry/internal/rootfs/file"
)

// ErrUnpreservable means that a new inode can't get the metadata of the old one, so the
// old one has to be rewritten in place.
var ErrUnpreservable = errors.New("owner or attributes can't be carried over")

// Meta is the metadata that an exchange of inodes must preserve, and the number of names.
// It is comparable.
type Meta struct {
	Mode            fs.FileMode
	UID, GID, Nlink uint32
	flags           uint32 // chattrFlags
	xattrs          string // names and values
}

// chattrFlags are the flags of chattr that a user or root sets, except those that describe
// how a file system stores the file. Immutable and append-only files can't be replaced.
const chattrFlags = 0x1 | 0x2 | 0x4 | 0x8 | 0x40 | 0x80 | 0x400 | 0x4000 | 0x8000 | 0x800000 | 0x2000000 // s u c S d A m j t C x of chattr(1); numbers of <linux/fs.h>

// MetaOf reads what CopyMeta copies. It is called several times for each change,
// so it makes only a few system calls.
func MetaOf(fd int) (Meta, error) {
	info, err := InfoOf(fd)
	if err != nil {
		return Meta{}, err
	}
	m := Meta{Mode: info.Mode, UID: info.UID, GID: info.GID, Nlink: info.Nlink, flags: flagsOf(fd)}
	names, err := listXattrs(fd)
	if err != nil {
		return Meta{}, err
	}
	slices.Sort(names)
	var b strings.Builder
	for _, name := range names {
		value, err := getXattr(fd, name)
		if err == unix.ENODATA {
			continue
		}
		if err != nil {
			return Meta{}, err
		}
		fmt.Fprintf(&b, "%s=%d:%s", name, len(value), value)
	}
	m.xattrs = b.String()
	return m, nil
}

// flagsOf returns the chattrFlags of a file, or 0 if the file system has none.
func flagsOf(fd int) uint32 {
	flags, err := unix.IoctlGetUint32(fd, unix.FS_IOC_GETFLAGS)
	if err != nil {
		return 0
	}
	return flags & chattrFlags
}

// copyFlags copies the chattrFlags.
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
		return ErrUnpreservable
	}
	return nil
}

// CopyMeta copies owner, mode and extended attributes, which include the access control
// list. Call it after writing, because a write drops set-id bits and capabilities.
func (c *Calls) CopyMeta(from int, info file.Info, to int) error {
	now, err := c.FDInfo(to)
	if err != nil {
		return err
	}
	if now.UID != info.UID || now.GID != info.GID {
		if err := c.chown(to, info.UID, info.GID); err == unix.EPERM || err == unix.EINVAL {
			return ErrUnpreservable
		} else if err != nil {
			return err
		}
	}
	if err := c.Chmod(to, UnixMode(info.Mode)); err != nil {
		return err
	}
	if err := c.copyXattrs(from, to); err != nil {
		return err
	}
	return copyFlags(from, to)
}

func (c *Calls) copyXattrs(from, to int) error {
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
				return ErrUnpreservable
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
		switch err := c.setxattr(to, name, value); {
		case err == nil:
		case !ours(name) && (err == unix.EPERM || err == unix.ENOTSUP || err == unix.EACCES || err == unix.EINVAL):
			// Only the system may set this label, and it has set one on the new file.
		case err == unix.EPERM || err == unix.ENOTSUP || err == unix.EACCES:
			return ErrUnpreservable
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

// growing calls get with larger buffers until the result fits. The kernel's limit is 64 KiB.
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

// capability is the attribute that setcap sets. The system removes it, like the set-id bits,
// when the file is written to.
const capability = "security.capability"

// SavePrivileges copies the capabilities of a file to its backup. An error means that they
// could not be restored either, so the file must not be written to.
func (c *Calls) SavePrivileges(from, to int) error {
	value, err := getXattr(from, capability)
	if err != nil {
		return nil // none, or this file system has no attributes
	}
	if err := c.setxattr(to, capability, value); err != nil {
		return fmt.Errorf("its capabilities (setcap) would be lost, since it has several names and only root can set them: %w", err)
	}
	return nil
}

// RegainPrivileges restores the capabilities of a rewritten file from its backup, and the
// mode from was unless that is zero.
func (c *Calls) RegainPrivileges(bk, fd int, was file.Info) error {
	if value, err := getXattr(bk, capability); err == nil {
		if now, err := getXattr(fd, capability); err != nil || !bytes.Equal(now, value) {
			if err := c.setxattr(fd, capability, value); err != nil {
				return err
			}
		}
	}
	if now, err := InfoOf(fd); err == nil && was.Mode != 0 && now.Mode != was.Mode {
		return c.Chmod(fd, UnixMode(was.Mode))
	}
	return nil
}
