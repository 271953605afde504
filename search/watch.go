package search

import (
	"context"
	"sync/atomic"
)

// Watch counts what a search has done so far, for whoever waits for it.
type Watch struct {
	Files   atomic.Int64 // read
	Matches atomic.Int64 // matching lines, or files for ranked searches
}

type watchKey struct{}

// WithWatch returns a context whose searches count in w. A search that another
// process answers does not.
func WithWatch(ctx context.Context, w *Watch) context.Context {
	return context.WithValue(ctx, watchKey{}, w)
}

// WatchOf returns the Watch of a context, or nil.
func WatchOf(ctx context.Context) *Watch {
	w, _ := ctx.Value(watchKey{}).(*Watch)
	return w
}

// Add counts a file and its matches; w may be nil.
func (w *Watch) Add(matches int) {
	if w != nil {
		w.Files.Add(1)
		w.Matches.Add(int64(matches))
	}
}
