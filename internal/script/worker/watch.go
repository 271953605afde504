package worker

import (
	"fmt"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// watch ends the process when its live memory passes a bound: it looks fifty times
// a second, and the collector works harder near the bound so that garbage alone
// does not reach it.
func watch(bytes int64) {
	debug.SetMemoryLimit(bytes * 3 / 4)
	go func() {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		for range time.Tick(20 * time.Millisecond) {
			metrics.Read(sample)
			if sample[0].Value.Uint64() > uint64(bytes) {
				fmt.Fprintln(os.Stderr, memoryWord)
				os.Exit(3)
			}
		}
	}()
}
