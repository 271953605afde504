package stress

import "golang.org/x/sys/unix"

// free returns the number of free bytes in the file system of dir; 0 if dir doesn't exist.
func free(dir string) uint64 {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return 0
	}
	return s.Bavail * uint64(s.Bsize)
}
