//go:build unix && !linux && !freebsd && !dragonfly

package worker

func limitOf(n int) uint64 { return uint64(n) }
