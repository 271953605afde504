package profile

import (
	"context"
	"fmt"
	"sync"
	"time"

	"quarry/internal/progress"
	"quarry/tool"
)

// tellEvery is how often a slow call reports the progress of the index.
const tellEvery = 100 * time.Millisecond

// tellBuilding reports the progress of the index while a call runs without it, if the
// client accepts progress reports. The returned function stops the reports.
func (e *env) tellBuilding(ctx context.Context) (end func()) {
	if !tool.HasProgress(ctx) || e.o.NoIndex {
		return func() {}
	}
	if !e.tellOnce(ctx) { // no index is being built, and none will be started
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var wait sync.WaitGroup
	wait.Go(func() {
		tick := time.NewTicker(tellEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if !e.tellOnce(ctx) {
					return
				}
			}
		}
	})
	return func() { cancel(); wait.Wait() }
}

// tellOnce sends the progress of an index that is being built, and reports whether there
// is one.
func (e *env) tellOnce(ctx context.Context) (building bool) {
	list, err := e.indexes(ctx)
	if err != nil {
		return false
	}
	var files, total int
	for _, st := range list {
		if st.State == "indexing" {
			building = true
			files += st.Building.Files
			total += st.Building.Total
		}
	}
	if total > 0 {
		text := fmt.Sprintf("the index is being built: %d of %d files; until then each search reads the files", files, total)
		tool.ProgressOf(ctx)(int64(files), int64(total), text)
	}
	return building
}

// tellSearched reports how many files a search has read, and the progress of a change, if
// the client accepts progress reports. The returned function stops the reports.
func (e *env) tellSearched(ctx context.Context, watch *progress.Count) (end func()) {
	if !tool.HasProgress(ctx) {
		return func() {}
	}
	report := tool.ProgressOf(ctx)
	done := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		tick := time.NewTicker(tellEvery)
		defer tick.Stop()
		read := int64(0) // files read before the change; the answer may read them again
		for over := false; !over; {
			select {
			case <-done:
				over = true
			case <-tick.C:
			}
			n, total := watch.Files.Load(), watch.Total.Load()
			switch steps := min(watch.Steps.Load(), total); {
			case watch.Back.Load():
				return // progress must not decrease, and a cancelled call has no reports
			case total > 0 && (steps == total || !over):
				report(read+steps, read+total, fmt.Sprintf("%d of %d steps of the change", steps, total))
			case total == 0 && n > 0 && !over:
				read = n
				report(n, 0, fmt.Sprintf("%d files searched, %d matches", n, watch.Matches.Load()))
			}
		}
	})
	return func() { close(done); wait.Wait() }
}
