package index

import (
	"context"
	"time"
)

// A worker of a build looks every yieldStep whether a search still reads files. It waits at most
// maxYield for each segment: a search that never ends must not prevent the index that it lacks.
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
