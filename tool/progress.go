package tool

import "context"

// Progress hears how far a call is. A total of 0 is unknown. It may be called
// from several goroutines, as often as the work likes: whoever listens thins it
// out.
type Progress func(done, total int64, message string)

type progressKey struct{}

// WithProgress returns a context whose calls report to p.
func WithProgress(ctx context.Context, p Progress) context.Context {
	return context.WithValue(ctx, progressKey{}, p)
}

// HasProgress reports whether anybody hears how far a call is, for work that is
// done only to tell.
func HasProgress(ctx context.Context) bool {
	p, ok := ctx.Value(progressKey{}).(Progress)
	return ok && p != nil
}

// ProgressOf returns where to report how far a call is. It is never nil; when
// nobody listens, it does nothing.
func ProgressOf(ctx context.Context) Progress {
	if p, ok := ctx.Value(progressKey{}).(Progress); ok && p != nil {
		return p
	}
	return func(int64, int64, string) {}
}
