package notebook

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"quarry/fault"
	"quarry/match"
	"quarry/search"
)

// mentioning lists the files that match one of the expressions, in any case; all
// notes and canvases if there are none.
func (b *Book) mentioning(ctx context.Context, all bool, exprs []string, globs ...string) ([]string, error) {
	if len(exprs) == 0 {
		return b.paths(ctx, all, globs...)
	}
	r, err := b.ws.Search(ctx, search.Query{
		Pattern: exprs[0], Patterns: exprs[1:], Detail: search.Files,
		Match: match.Options{Case: match.Insensitive}, Scope: scope(all, globs...),
	})
	if err != nil {
		return nil, err
	}
	out := make([]string, len(r.Files))
	for i := range r.Files {
		out[i] = r.Files[i].Path
	}
	slices.Sort(out)
	return out, nil
}

// eachNote reads files in parallel and calls f for each, in path order. A file
// that is gone, or is not text, is skipped; another failure ends the loop.
func (b *Book) eachNote(ctx context.Context, paths []string, f func(*Note) error) error {
	return inParallel(ctx, paths, func(p string) (*Note, error) { return b.read(ctx, p) }, f)
}

// inParallel makes a value of each file on all processors, and calls f for
// each, in path order.
func inParallel[T any](ctx context.Context, paths []string, work func(path string) (T, error), f func(T) error) error {
	const ahead = 256
	made, errs := make([]T, ahead), make([]error, ahead)
	for len(paths) > 0 {
		batch := paths[:min(ahead, len(paths))]
		paths = paths[len(batch):]
		var next atomic.Int64
		var wg sync.WaitGroup
		for range min(runtime.GOMAXPROCS(0), len(batch)) {
			wg.Go(func() {
				for i := int(next.Add(1)) - 1; i < len(batch); i = int(next.Add(1)) - 1 {
					made[i], errs[i] = work(batch[i])
				}
			})
		}
		wg.Wait()
		for i := range batch {
			if err := errs[i]; err != nil {
				if errors.Is(err, fault.NotFound) || errors.Is(err, fault.NotText) {
					continue
				}
				return err
			}
			if err := f(made[i]); err != nil {
				return err
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}
