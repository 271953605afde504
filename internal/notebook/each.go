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

// factQuery asks for the facts of notes, by an index if it has them.
type factQuery struct {
	all   bool // with ignored ones
	globs []string
	keys  []uint64 // of notes that are wanted; none are all
	want  uint64   // the facts that look needs
	// may, if set, tells texts that are not wanted.
	may func(text []byte) bool
	// look makes a value of a note; nil is none. With a text it is called on several
	// goroutines; without, from one, and the facts are valid until it returns.
	look func(path string, f *notefields.Facts, text []byte) any
	// must says that a note that can't be read is an error.
	must bool
}

// eachFact calls yield with the values of notes, in path order.
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
		n, _, err := b.readText(ctx, k.Path) // a note may be larger than what is ranked
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
