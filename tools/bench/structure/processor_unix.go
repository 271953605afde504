//go:build unix

package main

import (
	"syscall"
	"time"
)

// processor returns the processor time used by this process or, if children is set, by its children
// that have ended.
func processor(children bool) time.Duration {
	who := syscall.RUSAGE_SELF
	if children {
		who = syscall.RUSAGE_CHILDREN
	}
	var u syscall.Rusage
	if syscall.Getrusage(who, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
