package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// processorTime is what the process has used of the processors.
func processorTime() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
