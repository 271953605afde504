package worker

import "golang.org/x/sys/unix"

func limitOf(n int) uint64 { return uint64(n) }

// limitData bounds private memory; address space alone is not memory in Go.
func limitData(bytes int64) error {
	return lower(unix.RLIMIT_DATA, unix.Rlimit{Cur: uint64(bytes), Max: uint64(bytes)})
}
