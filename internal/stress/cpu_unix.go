//go:build unix

package stress

import (
	"syscall"
	"time"
)

// CPU is the processor time that this process has spent. A limit on what is spent
// between two calls holds on a busy machine too, where one on the clock does not.
func CPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // it fails for a bad argument only
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
