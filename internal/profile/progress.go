package profile

import (
	"context"
	"fmt"
	"sync"
	"time"

	"quarry/internal/progress"
	"quarry/tool"
)

// tellEvery is how often a call that takes long tells how the index is doing.
const tellEvery = 100 * time.Millisecond

// tellBuilding reports how far the index is while a call has to work without
// it, if the caller listens. The returned function stops that.
func (e *env) tellBuilding(ctx context.Context) (end func()) {
	if !tool.HasProgress(ctx) || e.o.NoIndex {
		return func() {}
	}
	if !e.tellOnce(ctx) { // nothing is built, and what is built stays so
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

// tellOnce reports whether an index is being built, and how far it is.
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

// tellSearched reports how many files a search has read, and how much of a change is
// made, if the caller listens. The returned function stops that.
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
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				n, total := watch.Files.Load(), watch.Total.Load()
				if steps := min(watch.Steps.Load(), total); total > 0 {
					report(n+steps, n+total, fmt.Sprintf("%d of %d steps of the change", steps, total))
				} else if n > 0 {
					report(n, 0, fmt.Sprintf("%d files searched, %d matches", n, watch.Matches.Load()))
				}
			}
		}
	})
	return func() { close(done); wait.Wait() }
}
