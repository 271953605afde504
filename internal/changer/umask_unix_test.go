//go:build unix

package changer_test

import "syscall"

// Tests compare the modes of files that were made with the usual umask.
func init() { syscall.Umask(0o022) }
