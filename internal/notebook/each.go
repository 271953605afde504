package notebook

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"

	"quarry/fault"
	"quarry/internal/crew"
	"quarry/internal/notefields"
	"quarry/match"
	"quarry/search"
)

// mentioning lists the files that match one of the expressions, in any case. Without
// expressions it lists all notes and canvases.
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

// factQuery is a query for facts about notes. They come from the index if it has them.
type factQuery struct {
	all   bool // includes ignored notes
	globs []string
	keys  []uint64 // notes with one of these keys; none means all notes
	want  uint64   // the facts that look needs, as bits
	// may, if set, returns false for texts that can be skipped.
	may func(text []byte) bool
	// look makes a value from a note, or nil to drop the note. If text is given, look is
	// called on several goroutines. Otherwise it is called on one, and the facts are only
	// valid during the call.
	look func(path string, f *notefields.Facts, text []byte) any
	// must makes an unreadable note an error.
	must bool
}

// eachFact calls yield with the values that q.look makes, in path order.
func (b *Book) eachFact(ctx context.Context, q factQuery, yield func(path string, found any)) error {
	type value struct {
		path  string
		found any
	}
	look := func(path string, text []byte) any {
		if q.may != nil && !q.may(text) {
			return nil
		}
		return q.look(path, notefields.Of(path, text), text)
	}
	var list []value
	var known notefields.Facts
	sum, err := b.ws.EachText(ctx, search.TextQuery{Scope: scope(q.all, q.globs...), Fields: &search.FieldQuery{
		Keys: q.keys, Want: q.want,
		Look: func(path string, values []byte, _ []uint8) any {
			return q.look(path, known.Know(path, values), nil)
		},
	}}, look, func(path string, found any) { list = append(list, value{path, found}) })
	if err != nil {
		return err
	}
	more := false
	for _, k := range sum.Skipped {
		if k.Reason != search.TooLarge && (!q.must || k.Reason != search.Unreadable) {
			continue
		}
		n, _, err := b.readText(ctx, k.Path) // the note may be too large for a ranked search
		switch {
		case errors.Is(err, fault.NotFound), errors.Is(err, fault.NotText), err != nil && !q.must:
			continue
		case err != nil:
			return err
		}
		if found := look(k.Path, bytes.Clone(n.Text)); found != nil {
			list, more = append(list, value{k.Path, found}), true
		}
	}
	if more {
		slices.SortFunc(list, func(a, b value) int { return strings.Compare(a.path, b.path) })
	}
	for _, v := range list {
		yield(v.path, v.found)
	}
	return nil
}

// eachNote reads files in parallel and calls f for each in path order. Files that have
// vanished or are not text are skipped. Any other failure ends the loop.
func (b *Book) eachNote(ctx context.Context, paths []string, f func(*Note) error) error {
	return inParallel(ctx, paths, func(p string) (*Note, error) { return b.read(ctx, p) }, f)
}

// inParallel makes a value from each file using all processors, and calls f with each in
// path order.
func inParallel[T any](ctx context.Context, paths []string, work func(path string) (T, error), f func(T) error) error {
	const ahead = 256
	made, errs := make([]T, ahead), make([]error, ahead)
	for len(paths) > 0 {
		batch := paths[:min(ahead, len(paths))]
		paths = paths[len(batch):]
		crew.Each(ctx, len(batch), runtime.GOMAXPROCS(0), func(i int) { made[i], errs[i] = work(batch[i]) })
		if err := ctx.Err(); err != nil {
			return err
		}
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
	}
	return ctx.Err()
}
