package tool

import "context"

// Progress receives the progress of a call. A total of 0 means unknown. It may be called
// from several goroutines and at any rate; the receiver limits the rate.
type Progress func(done, total int64, message string)

type progressKey struct{}

// WithProgress returns a context whose calls report to p.
func WithProgress(ctx context.Context, p Progress) context.Context {
	return context.WithValue(ctx, progressKey{}, p)
}

// HasProgress reports whether a receiver for progress is set. Otherwise work that is only
// needed for progress reports can be skipped.
func HasProgress(ctx context.Context) bool {
	p, ok := ctx.Value(progressKey{}).(Progress)
	return ok && p != nil
}

// ProgressOf returns the function to report progress to. It is never nil; without a receiver
// it does nothing.
func ProgressOf(ctx context.Context) Progress {
	if p, ok := ctx.Value(progressKey{}).(Progress); ok && p != nil {
		return p
	}
	return func(int64, int64, string) {}
}
