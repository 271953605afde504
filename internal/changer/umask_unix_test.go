//go:build unix

package changer_test

import "syscall"

// Tests compare file modes, which depend on the umask.
func init() { syscall.Umask(0o022) }
