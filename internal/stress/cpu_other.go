//go:build !unix

package stress

import "time"

var started = time.Now()

// CPU is the time since the process started; where there is getrusage, the
// processor time it has spent.
func CPU() time.Duration { return time.Since(started) }
