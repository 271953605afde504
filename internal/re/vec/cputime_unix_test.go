//go:build unix

package vec

import (
	"syscall"
	"time"
)

// cpuTime gives the processor time this process has used. On a busy machine
// it says more than the clock.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
