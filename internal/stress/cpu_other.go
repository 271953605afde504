//go:build !unix

package stress

import "time"

var started = time.Now()

// CPU returns the time since the process started. On systems with getrusage it is the
// processor time.
func CPU() time.Duration { return time.Since(started) }
