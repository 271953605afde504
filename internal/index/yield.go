package index

import (
	"context"
	"time"
)

// While searches read files, the workers of a build wait, checking every yieldStep. They wait at
// most maxYield per segment, so that an endless search doesn't prevent the build.
const (
	yieldStep = 2 * time.Millisecond
	maxYield  = 5 * time.Second
)

// Yield makes builds wait until end is called. It is for searches that read files because the index
// is not ready: with two processors, the first search of the Linux tree took 0.5 s alone and 1.5 to
// 4.5 s beside the build.
func (ix *Index) Yield() (end func()) {
	ix.scans.Add(1)
	return func() { ix.scans.Add(-1) }
}

// yield waits for the searches.
func (w *buildWorker) yield(ctx context.Context) {
	for w.scans.Load() > 0 && w.patience > 0 && ctx.Err() == nil {
		time.Sleep(yieldStep)
		w.patience -= yieldStep
	}
}
