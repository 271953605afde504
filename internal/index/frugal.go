package index

import (
	"runtime/debug"
	"sync"
)

const (
	// frugalFrom is the number of files from which a build collects garbage more
	// often.
	frugalFrom = 10_000
	// gcPercent bounds the garbage of a build to a quarter of its live memory;
	// the default is as much again. Most of what it needs are bytes that the
	// collector doesn't look at, so it costs little: Linux took 22.0 s of
	// processor time with it, 23.1 before.
	gcPercent = 25
)

// builds counts the builds in this process, which share one garbage collector.
var builds struct {
	sync.Mutex
	n   int
	was int // the setting before the first one
}

// frugal lets the collector run more often until the returned function is called.
func frugal() (done func()) {
	builds.Lock()
	defer builds.Unlock()
	if builds.n++; builds.n == 1 {
		builds.was = debug.SetGCPercent(gcPercent)
		if builds.was >= 0 && builds.was < gcPercent { // somebody is more frugal
			debug.SetGCPercent(builds.was)
		}
	}
	return func() {
		builds.Lock()
		defer builds.Unlock()
		if builds.n--; builds.n == 0 {
			debug.SetGCPercent(builds.was)
		}
	}
}
