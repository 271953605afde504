//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// peakKB returns the peak memory of a process.
func peakKB(p *os.ProcessState) int64 {
	ru, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" { // bytes there
		return int64(ru.Maxrss) >> 10
	}
	return int64(ru.Maxrss)
}
