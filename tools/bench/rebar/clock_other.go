//go:build !linux

package main

import "time"

var begin = time.Now()

// processorTime falls back to wall time, since processor time is unknown.
func processorTime() time.Duration { return time.Since(begin) }
