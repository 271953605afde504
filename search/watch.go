package search

import (
	"context"
	"sync/atomic"
)

// Watch counts what calls have done so far, to show progress.
type Watch struct {
	Files   atomic.Int64 // read
	Matches atomic.Int64 // matching lines, or files for ranked searches
	// Replaced says that a call found another folder at the workspace's path than
	// the call before it.
	Replaced atomic.Bool
}

type watchKey struct{}

// WithWatch returns a context whose calls report to w. If another process answers
// a search, w is updated every quarter of a second.
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
