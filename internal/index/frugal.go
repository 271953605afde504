package index

import (
	"math"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

const (
	// frugalFrom is the number of files above which a build limits its memory.
	frugalFrom = 10_000
	// gcPercent limits the garbage of a build to a quarter of its live memory; by default it
	// may be as large as the live memory. Most of that memory consists of bytes that the
	// collector doesn't scan, so the cost is small: the Linux tree took 22.0 s of processor
	// time with this setting and 23.1 without.
	gcPercent = 25
	// The memory limit is the memory that the process used before, the segment's runs, and
	// workerMemory for each worker: postings being sorted, and a text with its terms and
	// definitions. The limit matters if all of these are large at once. It also makes the
	// runtime return free memory, which was 40 to 100 of the 300 MB that four copies of Linux
	// took.
	workerMemory = 26 << 20
)

// builds counts the builds in this process, because they share one garbage collector.
var builds struct {
	sync.Mutex
	n        int
	was      int // the setting before the first build
	wasLimit int64
}

// limitMemory calls frugal if a build of this many files is worth it and the Options allow
// it.
func (o *Options) limitMemory(files int) (next func(need int64), done func()) {
	if !o.Frugal || files < frugalFrom {
		return func(int64) {}, func() {}
	}
	return frugal()
}

// frugal makes the garbage collector run more often until done is called. Call next before each
// segment with the memory that the segment will need. Memory that other parts of the process
// allocate in the meantime does not count against the build.
func frugal() (next func(need int64), done func()) {
	builds.Lock()
	defer builds.Unlock()
	if builds.n++; builds.n == 1 {
		builds.was = debug.SetGCPercent(gcPercent)
		if builds.was >= 0 && builds.was < gcPercent { // the process's own setting is lower
			debug.SetGCPercent(builds.was)
		}
		builds.wasLimit = debug.SetMemoryLimit(-1)
	}
	debug.FreeOSMemory() // free the memory that listing the files took
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

// inUse returns the memory that counts towards a memory limit.
func inUse() int64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindUint64 || s[1].Value.Kind() != metrics.KindUint64 {
		return math.MaxInt64 / 2 // no limit
	}
	return int64(s[0].Value.Uint64() - s[1].Value.Uint64())
}
