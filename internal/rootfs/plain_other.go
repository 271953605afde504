//go:build !unix

package rootfs

import "io/fs"

const plainFlags = 0

// BelongsToUs is not asked here: folders that all users can write to are not
// where people work.
func BelongsToUs(fs.FileInfo) bool { return true }

func ourUser(uint32) bool { return true }
