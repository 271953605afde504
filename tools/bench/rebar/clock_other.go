//go:build !linux

package main

import "time"

var begin = time.Now()

// processorTime is the clock where processor time isn't known.
func processorTime() time.Duration { return time.Since(begin) }
