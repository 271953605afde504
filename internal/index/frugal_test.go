package index

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
)

// A build bounds the memory of the process relative to its start, and restores the settings; with two builds,
// the last one restores them.
func TestFrugal(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(80))
	settings := func() (percent int, limit int64) {
		percent = debug.SetGCPercent(100)
		debug.SetGCPercent(percent)
		return percent, debug.SetMemoryLimit(-1)
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(math.MaxInt64))
	const need = 64 << 20
	next, done := frugal()
	next(need)
	percent, one := settings()
	if percent != gcPercent || one < need || one > 4<<30 {
		t.Errorf("percent %d, limit %d", percent, one)
	}
	held := make([]byte, 32<<20)
	for i := range held {
		held[i] = 1
	}
	next(need)
	if _, more := settings(); more < one+16<<20 {
		t.Errorf("limit %d, and %d after the process came to hold %d bytes", one, more, len(held))
	}
	nextOther, doneOther := frugal()
	nextOther(need)
	if _, two := settings(); two < one+need-16<<20 {
		t.Errorf("limit %d for one build, %d for two", one, two)
	}
	done()
	if percent, limit := settings(); percent != gcPercent || limit == math.MaxInt64 {
		t.Errorf("percent %d, limit %d while a build goes on", percent, limit)
	}
	doneOther()
	if percent, limit := settings(); percent != 80 || limit != math.MaxInt64 {
		t.Errorf("percent %d, limit %d after the builds", percent, limit)
	}
	for _, o := range []*Options{{}, {Frugal: true}} { // as in a library, and for few files
		files := frugalFrom
		if o.Frugal {
			files--
		}
		next, done := o.limitMemory(files)
		next(need)
		if percent, limit := settings(); percent != 80 || limit != math.MaxInt64 {
			t.Errorf("percent %d, limit %d for %d files, %+v", percent, limit, files, o.Frugal)
		}
		done()
	}
	debug.SetMemoryLimit(48 << 20) // a more frugal setting
	next, done = frugal()
	next(need)
	if _, limit := settings(); limit != 48<<20 {
		t.Errorf("limit %d", limit)
	}
	done()
	runtime.KeepAlive(held)
}
