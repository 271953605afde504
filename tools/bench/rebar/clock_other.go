//go:build !linux

package main

import "time"

var begin = time.Now()

// processorTime returns wall time, because processor time is unknown here.
func processorTime() time.Duration { return time.Since(begin) }
