package notebook

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"

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
// that is gone by then, or is no text, is passed over; another failure ends it.
func (b *Book) eachNote(ctx context.Context, paths []string, f func(*Note) error) error {
	const ahead = 64
	for len(paths) > 0 {
		batch := paths[:min(ahead, len(paths))]
		paths = paths[len(batch):]
		read := make([]*Note, len(batch))
		errs := make([]error, len(batch))
		var wg sync.WaitGroup
		for w := range min(runtime.GOMAXPROCS(0), len(batch)) {
			wg.Go(func() {
				for i := w; i < len(batch); i += runtime.GOMAXPROCS(0) {
					read[i], errs[i] = b.read(ctx, batch[i])
				}
			})
		}
		wg.Wait()
		for i, n := range read {
			if err := errs[i]; err != nil {
				if errors.Is(err, fault.NotFound) || errors.Is(err, fault.NotText) {
					continue
				}
				return err
			}
			if err := f(n); err != nil {
				return err
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}
