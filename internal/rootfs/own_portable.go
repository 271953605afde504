//go:build !linux || portable

package rootfs

import "slices"

func infoOf(path string) (Info, error) { return lstatPath(path) }

// isBeneath reports whether an open folder is one of the folders in above. Folders beneath them are recognized
// by their path, since these systems have no bind mounts.
func isBeneath(dir *folder, above []Info) (bool, error) {
	info, err := dir.Stat()
	return err == nil && slices.ContainsFunc(above, info.SameFile), err
}
