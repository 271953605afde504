//go:build !unix

package stress

import "time"

var started = time.Now()

// CPU returns the wall time since the process started, because the processor time is not available
// here.
func CPU() time.Duration { return time.Since(started) }
