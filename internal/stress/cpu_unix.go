//go:build unix

package stress

import (
	"syscall"
	"time"
)

// CPU returns the processor time that this process has spent. A limit on it also holds
// on a busy machine, unlike one on wall time.
func CPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // fails only for bad arguments
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
