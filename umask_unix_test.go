//go:build unix

package quarry_test

import "syscall"

// Tests compare the modes of files that were made with the umask most people have.
func init() { syscall.Umask(0o022) }
