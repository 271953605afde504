//go:build (unix && !linux) || (linux && portable)

package rootfs

import "os"

// self identifies this process, as well as it can be done everywhere.
func self() owner { return owner{boot: noBoot, space: noSpace, pid: os.Getpid()} }

// makerGone can't decide on this system; the file's age does.
func makerGone(owner) bool { return false }
