//go:build unix

package cli

import "golang.org/x/sys/unix"

// canWrite reports whether the system would let this process change a folder:
// by its mode, its owner, and whether the volume is mounted for reading only.
func canWrite(dir string) bool { return unix.Access(dir, unix.W_OK) == nil }
