//go:build !linux || portable

package rootfs

import "slices"

func infoOf(path string) (Info, error) { return lstatPath(path) }

// isBeneath compares the folder itself. These systems mount no folder a second time, so the path determines
// the folders above.
func isBeneath(dir *folder, above []Info) (bool, error) {
	info, err := dir.Stat()
	return err == nil && slices.ContainsFunc(above, info.SameFile), err
}
