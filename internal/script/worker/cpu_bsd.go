//go:build freebsd || dragonfly

package worker

func limitOf(n int) int64 { return int64(n) }
