//go:build linux

package linux

import (
	"golang.org/x/sys/unix"

	"quarry/internal/rootfs/file"
)

// KindOf determines the kind of file system from its magic number.
func KindOf(fd int) file.FSKind {
	var st unix.Statfs_t
	if err := unix.Fstatfs(fd, &st); err != nil {
		return file.FSUnknown
	}
	switch uint32(st.Type) {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC,
		unix.F2FS_SUPER_MAGIC, unix.OVERLAYFS_SUPER_MAGIC, unix.RAMFS_MAGIC,
		unix.REISERFS_SUPER_MAGIC, unix.SQUASHFS_MAGIC, unix.EROFS_SUPER_MAGIC_V1,
		unix.ISOFS_SUPER_MAGIC, unix.BCACHEFS_SUPER_MAGIC, 0x2FC12FC1 /* zfs */, 0x3153464A /* jfs */ :
		if folds(fd) {
			return file.FSUnknown
		}
		return file.FSLocal
	// vfat, exFAT and ntfs3 ignore case, as ext4 above may. Then an event has the name that a program used,
	// which may differ from the file's name.
	case unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC,
		unix.CEPH_SUPER_MAGIC, unix.AFS_SUPER_MAGIC, unix.AFS_FS_MAGIC, unix.CODA_SUPER_MAGIC, unix.NCP_SUPER_MAGIC,
		unix.V9FS_MAGIC, unix.FUSE_SUPER_MAGIC, unix.OCFS2_SUPER_MAGIC, 0x786F4256 /* vboxsf */, 0x6A656A63 /* prl_fs */ :
		return file.FSNetwork
	}
	return file.FSUnknown
}

// folds reports whether a folder ignores the case of names (chattr +F).
func folds(fd int) bool {
	const flag = 0x40000000 // FS_CASEFOLD_FL
	got, err := unix.IoctlGetInt(fd, unix.FS_IOC_GETFLAGS)
	return err == nil && got&flag != 0
}
