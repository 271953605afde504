package index

import (
	"math"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

const (
	// frugalFrom is the number of files from which a build limits its memory.
	frugalFrom = 10_000
	// gcPercent bounds the garbage of a build to a quarter of its live memory; the default is as much again.
	// Most of that memory is bytes that the collector doesn't scan, so this costs little: Linux took 22.0 s
	// of processor time with it, 23.1 before.
	gcPercent = 25
	// A segment takes its runs and, for each worker, postings being sorted and a text with its terms and
	// definitions. The limit is the memory the process had before plus this. It matters when all parts are
	// large at once, and for free memory that the runtime would keep: 40 to 100 MB of the 300 that four
	// copies of Linux took.
	workerMemory = 26 << 20
)

// builds are the builds in this process, which share one garbage collector.
var builds struct {
	sync.Mutex
	n        int
	was      int // the settings before the first one
	wasLimit int64
}

// minding sets the collector for a build of the given number of files, if Options allow it.
// See frugal.
func (o *Options) minding(files int) (next func(need int64), done func()) {
	if !o.Frugal || files < frugalFrom {
		return func(int64) {}, func() {}
	}
	return frugal()
}

// frugal lets the collector run more often until done is called. next is called before each segment with the
// memory that it will need. Memory that other parts of the process allocate meanwhile does not count against
// the build.
func frugal() (next func(need int64), done func()) {
	builds.Lock()
	defer builds.Unlock()
	if builds.n++; builds.n == 1 {
		builds.was = debug.SetGCPercent(gcPercent)
		if builds.was >= 0 && builds.was < gcPercent { // another build is more frugal
			debug.SetGCPercent(builds.was)
		}
		builds.wasLimit = debug.SetMemoryLimit(-1)
	}
	debug.FreeOSMemory() // free the memory used for listing the files
	next = func(need int64) {
		builds.Lock()
		defer builds.Unlock()
		debug.SetMemoryLimit(min(builds.wasLimit, inUse()+int64(builds.n)*need))
	}
	return next, func() {
		builds.Lock()
		defer builds.Unlock()
		if builds.n--; builds.n == 0 {
			debug.SetGCPercent(builds.was)
			debug.SetMemoryLimit(builds.wasLimit)
		}
	}
}

// inUse returns the memory that counts for a memory limit.
func inUse() int64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindUint64 || s[1].Value.Kind() != metrics.KindUint64 {
		return math.MaxInt64 / 2 // no limit
	}
	return int64(s[0].Value.Uint64() - s[1].Value.Uint64())
}
