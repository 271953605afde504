package posix

import (
	"golang.org/x/sys/unix"

	"quarry/internal/rootfs/file"
)

// LocalVolume reports whether an open file is on a disk of this machine. On a network volume,
// changes by other machines cause no event.
func LocalVolume(fd int) bool {
	var st unix.Statfs_t
	return unix.Fstatfs(fd, &st) == nil && st.Flags&unix.MNT_LOCAL != 0
}

// FSKind returns the kind of file system. A volume that isn't local only reports changes by
// this machine.
func (d *Folder) FSKind() file.FSKind {
	dir, err := d.h.Open(".")
	if err != nil {
		return file.FSUnknown
	}
	defer dir.Close()
	var st unix.Statfs_t
	switch err := unix.Fstatfs(int(dir.Fd()), &st); {
	case err != nil:
		return file.FSUnknown
	case st.Flags&unix.MNT_LOCAL == 0:
		return file.FSNetwork
	}
	return file.FSLocal
}
