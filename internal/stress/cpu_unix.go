//go:build unix

package stress

import (
	"syscall"
	"time"
)

// CPU returns the processor time used by this process. Unlike a limit on wall time, a limit on
// processor time also works on a busy machine.
func CPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // only possible for invalid arguments
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
