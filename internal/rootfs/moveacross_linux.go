//go:build linux && !portable

package rootfs

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// RenameInto is RenameTo for callers that must not copy: it moves the entry at
// from into another root by one rename, never overwriting and following no
// symlink, and fails with an error that is syscall.EXDEV where only a copy
// would do. The entry that moves is the one the name stands for at that moment,
// a symlink itself included.
func (r *Root) RenameInto(from Path, dst *Root, to Path) error {
	const op = "rename"
	if err := r.writable(op, from); err != nil {
		return err
	}
	src, err := r.removable(op, from)
	if err != nil {
		return err
	}
	defer src.close()
	info, err := r.infoAt(src.dir, src.name)
	if err != nil {
		return wrap(op, from.String(), err)
	}
	if err := dst.editable(op, to, info.Type == TypeDir); err != nil {
		return err
	}
	at, err := dst.place(op, to)
	if err != nil {
		return err
	}
	defer at.close()
	err = r.move(src, at, info)
	shown := to
	if err == unix.ENOENT {
		shown = from
	}
	return wrap(op, shown.String(), err)
}

// TopDir returns the top of the mounted volume that holds dir, an absolute path
// without symlinks. A bind mount is a volume of its own: nothing can be renamed
// out of it.
func TopDir(dir string) (string, error) {
	here, err := mountOf(dir)
	if err != nil {
		return "", wrap("stat", dir, err)
	}
	for {
		up := filepath.Dir(dir)
		if up == dir {
			return dir, nil
		}
		there, err := mountOf(up)
		if err != nil {
			return "", wrap("stat", up, err)
		}
		if there != here {
			return dir, nil
		}
		dir = up
	}
}

// mount identifies a volume: a subvolume of btrfs has a device of its own in
// one mount, two bind mounts have one device.
type mount struct{ dev, id uint64 }

func mountOf(dir string) (mount, error) {
	var st unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, dir, unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT, unix.STATX_MNT_ID, &st)
	if err != nil {
		return mount{}, err
	}
	return mount{unix.Mkdev(st.Dev_major, st.Dev_minor), st.Mnt_id}, nil
}

// MountsBeneath lists the volumes mounted below dir, an absolute path without
// symlinks.
func MountsBeneath(dir string) ([]string, error) {
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, wrap("read", "mountinfo", err)
	}
	var found []string
	for _, m := range parseMounts(string(table), dir) {
		found = append(found, filepath.Join(dir, m.At.String()))
	}
	return found, nil
}
