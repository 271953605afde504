//go:build unix

package worker

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// bound limits this process by the system, before the first script runs. Where
// the system does not keep a limit of memory (macOS), the watch does.
func bound(memory int64, processor int) error {
	if err := lower(unix.RLIMIT_CPU, unix.Rlimit{Cur: limitOf(processor), Max: limitOf(processor + 1)}); err != nil {
		return err
	}
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return err
	}
	// Twice the memory: the collector frees late, and the runtime has its own.
	// The watch ends the process earlier; this is for one allocation that is
	// larger than what the watch has time for.
	return limitData(2*memory + 64<<20)
}

// lower sets a limit, or leaves a lower one that whoever started us has set: to raise
// that is not allowed.
func lower(resource int, limit unix.Rlimit) error {
	var have unix.Rlimit
	if err := unix.Getrlimit(resource, &have); err != nil {
		return err
	}
	limit.Max = min(limit.Max, have.Max)
	limit.Cur = min(limit.Cur, limit.Max)
	return unix.Setrlimit(resource, &limit)
}

// isolate makes the worker a group of its own, so that ^C at a shell ends the
// server, and the server the worker.
func isolate(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// confine is for systems where the server sets the limits.
func confine(*os.Process, int64) (release func(), err error) { return func() {}, nil }

func processorSpent(s *os.ProcessState) bool {
	w, ok := s.Sys().(syscall.WaitStatus)
	return ok && w.Signaled() && (w.Signal() == syscall.SIGXCPU)
}

// peak is the most memory that a process had, in bytes.
func peak(s *os.ProcessState) int64 {
	u, ok := s.SysUsage().(*syscall.Rusage)
	switch {
	case !ok:
		return 0
	case runtime.GOOS == "darwin" || runtime.GOOS == "ios":
		return int64(u.Maxrss)
	}
	return int64(u.Maxrss) << 10
}
