package rootfs

import (
	"path/filepath"

	"golang.org/x/sys/windows"
)

// lstatPath describes what stands at an absolute path, not what it leads to.
func lstatPath(path string) (Info, error) {
	h, err := openPath(path, accessInfo, windows.FILE_FLAG_BACKUP_SEMANTICS|windows.FILE_FLAG_OPEN_REPARSE_POINT)
	if err != nil {
		return Info{}, err
	}
	defer windows.CloseHandle(h)
	info, _, err := infoOfHandle(h)
	return info, err
}

// TopDir returns the top of the volume that holds dir, an absolute path without
// links: a drive, a share, or a folder that a volume is mounted on.
func TopDir(dir string) (string, error) {
	u, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return "", wrap("stat", dir, err)
	}
	buf := make([]uint16, len(dir)+windows.MAX_PATH)
	if err := windows.GetVolumePathName(u, &buf[0], uint32(len(buf))); err != nil {
		return "", wrap("stat", dir, err)
	}
	return filepath.Clean(windows.UTF16ToString(buf)), nil
}

// renameWithin moves an entry between folders of the root, in one step and
// never overwriting; a name may change its own case.
func (r *Root) renameWithin(op string, from, to Path) error {
	return r.in(op, from, func(src *dirHandle, name string) error {
		return r.in(op, to, func(dir *dirHandle, base string) error { return src.move(name, dir, base) })
	})
}
