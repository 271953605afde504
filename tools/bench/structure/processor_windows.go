package main

import "time"

// processor is not measured on Windows.
func processor(bool) time.Duration { return 0 }
