//go:build !unix

package main

import "os"

// peakMemory is unknown on these systems.
func peakMemory(*os.ProcessState) int { return 0 }
