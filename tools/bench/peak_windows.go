package main

import "os"

// peakKB is not known here.
func peakKB(*os.ProcessState) int64 { return 0 }
