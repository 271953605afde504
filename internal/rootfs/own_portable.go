//go:build !linux || portable

package rootfs

import "slices"

func infoOf(path string) (Info, error) { return lstatPath(path) }

// isBeneath compares the folder itself. These systems mount no folder a second time,
// so what is above it is known by its path.
func isBeneath(dir *folder, above []Info) (bool, error) {
	info, err := dir.Stat()
	return err == nil && slices.ContainsFunc(above, info.SameFile), err
}
