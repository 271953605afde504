//go:build !portable

package mounts

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"quarry/internal/rootfs"
)

// volume identifies a volume. Both fields are needed: subvolumes of btrfs have different
// devices in one mount, and two bind mounts may have the same device.
type volume struct{ dev, mount uint64 }

func volumeOf(dir string) (volume, error) {
	var st unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, dir, unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT, unix.STATX_MNT_ID, &st)
	if err != nil {
		return volume{}, err
	}
	return volume{unix.Mkdev(st.Dev_major, st.Dev_minor), st.Mnt_id}, nil
}

// Beneath lists the volumes mounted below dir, an absolute path without symlinks.
func Beneath(dir string) ([]string, error) {
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, rootfs.Wrap("read", "mountinfo", err)
	}
	var found []string
	for _, m := range parse(string(table), dir) {
		found = append(found, filepath.Join(dir, m.At.String()))
	}
	return found, nil
}
