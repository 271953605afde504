package quarry

import (
	"context"
	"io"

	"quarry/internal/lookup"
	"quarry/internal/searcher"
	"quarry/search"
)

// Search returns the results of a query.
func (w *Workspace) Search(ctx context.Context, q search.Query) (*search.Result, error) {
	r := &search.Result{}
	q.Parts = false
	sum, err := w.SearchEach(ctx, q, func(f *search.FileMatch) error {
		r.Files = append(r.Files, *f)
		return nil
	})
	if err != nil {
		return nil, err
	}
	r.Summary = *sum
	return r, nil
}

// SearchEach calls yield for each file with results, in the query's order and as soon as the file
// is known. If yield returns an error, the search ends with that error. The summary is also
// returned if a limit ended the search.
func (w *Workspace) SearchEach(ctx context.Context, q search.Query, yield func(*search.FileMatch) error) (*search.Summary, error) {
	q.Limits.Reads, q.Limits.ReadBytes = max(q.Limits.Reads, 0), max(q.Limits.ReadBytes, 0)
	return answer(ctx, w, func(ctx context.Context) (*search.Summary, error) {
		if q.Symbols && q.Detail == search.Lines {
			yield = lookup.Enclosing(ctx, w.b, yield)
		}
		return w.b.SearchEach(ctx, q, yield)
	})
}

// SearchText searches a text that is not in a workspace, such as standard input. Scope is ignored,
// except that its first path determines the language of a structural pattern. The results have the
// path "".
func SearchText(ctx context.Context, r io.Reader, q search.Query, yield func(*search.FileMatch) error) (*search.Summary, error) {
	return searcher.Text(ctx, r, q, yield)
}

// Find returns the paths that match a scope.
func (w *Workspace) Find(ctx context.Context, q search.FindQuery) (*search.FindResult, error) {
	return answer(ctx, w, func(ctx context.Context) (*search.FindResult, error) { return w.b.Find(ctx, q) })
}

// SearchCode ranks pieces of files by relevance to a query of words.
func (w *Workspace) SearchCode(ctx context.Context, q search.CodeQuery) (*search.CodeResult, error) {
	return answer(ctx, w, func(ctx context.Context) (*search.CodeResult, error) { return w.b.SearchCode(ctx, q) })
}

// EachText calls look with the path and decoded text of every file that a query selects, on several
// goroutines. A text is valid only until look returns. EachText passes each non-nil result of look
// to yield, one at a time and in path order. It skips binary files and files over 8 MB.
func (w *Workspace) EachText(ctx context.Context, q search.TextQuery, look func(path string, text []byte) any, yield func(path string, found any)) (*search.Summary, error) {
	return answer(ctx, w, func(ctx context.Context) (*search.Summary, error) { return w.b.EachText(ctx, q, look, yield) })
}

// Remember caches the result of make by key. It calls make again if a file that a query without
// options would see has changed since. The result is shared and must not be modified. Without an
// index owned by this process, make is called every time.
func (w *Workspace) Remember(ctx context.Context, key string, make func(context.Context) (any, error)) (any, error) {
	return answer(ctx, w, func(ctx context.Context) (any, error) {
		return w.b.Remember(ctx, key, func() (any, error) { return make(ctx) })
	})
}

// Stat returns information about the file at path. If no file has that exact path, it returns the
// only file whose path differs just in letter case.
func (w *Workspace) Stat(ctx context.Context, path string) (*search.Info, error) {
	return answer(ctx, w, func(ctx context.Context) (*search.Info, error) { return w.b.Stat(ctx, path) })
}

// Read returns lines of a text file.
func (w *Workspace) Read(ctx context.Context, path string, opts *search.ReadOptions) (*search.Text, error) {
	return answer(ctx, w, func(ctx context.Context) (*search.Text, error) { return w.b.Read(ctx, path, opts) })
}

// ReadBytes returns the unchanged bytes of a file, even if it is not text. It refuses a file larger
// than max bytes; 0 means 1 GiB.
func (w *Workspace) ReadBytes(ctx context.Context, path string, max int64) ([]byte, error) {
	return answer(ctx, w, func(ctx context.Context) ([]byte, error) { return w.b.ReadBytes(ctx, path, max) })
}
