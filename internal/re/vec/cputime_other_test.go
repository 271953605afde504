//go:build !unix

package vec

import "time"

var processStart = time.Now()

// cpuTime falls back to the clock.
func cpuTime() time.Duration { return time.Since(processStart) }
