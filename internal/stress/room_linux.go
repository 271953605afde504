package stress

import "golang.org/x/sys/unix"

// free is how many bytes a file system can still take; 0 where dir is none.
func free(dir string) uint64 {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return 0
	}
	return s.Bavail * uint64(s.Bsize)
}
