package worker

import (
	"fmt"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

// watch ends the process when its live memory passes a bound, until end is called: it
// looks fifty times a second, and the collector works harder near the bound so that
// garbage alone does not reach it. It watches only while a script runs: in a worker
// that waits it took half a percent of a processor, and with the hours all of the
// processor time that the worker has for scripts.
func watch(bytes int64) (end func()) {
	debug.SetMemoryLimit(bytes * 3 / 4)
	stop := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
			}
			metrics.Read(sample)
			if sample[0].Value.Uint64() > uint64(bytes) {
				fmt.Fprintln(os.Stderr, memoryWord)
				os.Exit(3)
			}
		}
	})
	return func() {
		close(stop)
		done.Wait()
	}
}
