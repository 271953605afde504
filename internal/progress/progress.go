// Package progress counts the work a call has done so far, to be shown.
//
// The counter travels in the context. Counting never blocks and never changes an
// answer.
package progress

import (
	"context"
	"sync/atomic"
)

// Count counts the work that calls have done so far.
type Count struct {
	Files   atomic.Int64 // read
	Matches atomic.Int64 // matching lines, or files for ranked searches
	// Steps counts the completed steps of a change, out of Total. A file takes three: it is
	// read, its old content is kept, and it is written.
	Steps, Total atomic.Int64
	// Back says that they are steps of its rollback.
	Back atomic.Bool
	// Replaced is set if the folder at the workspace's path is not the one that the
	// previous call found there.
	Replaced atomic.Bool
}

type key struct{}

// With returns a context whose calls report to w. If another process answers
// a search, w is updated every quarter of a second.
func With(ctx context.Context, w *Count) context.Context {
	return context.WithValue(ctx, key{}, w)
}

// Of returns the Count of a context, or nil.
func Of(ctx context.Context) *Count {
	w, _ := ctx.Value(key{}).(*Count)
	return w
}

// Add counts a file and its matches; w may be nil.
func (w *Count) Add(matches int) {
	if w != nil {
		w.Files.Add(1)
		w.Matches.Add(int64(matches))
	}
}

// Expect begins an attempt of a change, or its rollback, with that many steps; w may be nil.
func (w *Count) Expect(steps int, back bool) {
	if w != nil {
		w.Back.Store(back)
		w.Steps.Store(0)
		w.Total.Store(int64(steps))
	}
}

// Step counts a step that is done; w may be nil.
func (w *Count) Step() {
	if w != nil {
		w.Steps.Add(1)
	}
}
