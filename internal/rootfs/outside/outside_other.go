//go:build !unix

package outside

import "io/fs"

const openFlags = 0

// Ours is not asked here: folders that all users can write to are not where
// people work.
func Ours(fs.FileInfo) bool { return true }

// OurUser likewise.
func OurUser(uint32) bool { return true }

// CheckPrivate: the home folder's own permissions keep others out.
func CheckPrivate(string) (unverified string, err error) { return "", nil }
