package tool

import "context"

// Progress is called with the progress of a call. A total of 0 means that the total is unknown; if
// done is 0 too, only the message is new, such as that the call waits. The function may be called on
// several goroutines and at any rate, so it has to limit the rate itself.
type Progress func(done, total int64, message string)

type progressKey struct{}

// WithProgress returns a context for calls that report their progress to p.
func WithProgress(ctx context.Context, p Progress) context.Context {
	return context.WithValue(ctx, progressKey{}, p)
}

// HasProgress reports whether progress is reported to anyone. If not, work that is only needed for
// progress can be skipped.
func HasProgress(ctx context.Context) bool {
	p, ok := ctx.Value(progressKey{}).(Progress)
	return ok && p != nil
}

// ProgressOf returns the function that receives progress. It is never nil; without a receiver it
// does nothing.
func ProgressOf(ctx context.Context) Progress {
	if p, ok := ctx.Value(progressKey{}).(Progress); ok && p != nil {
		return p
	}
	return func(int64, int64, string) {}
}
