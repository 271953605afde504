package quarry

import (
	"context"
	"io"

	"quarry/internal/lookup"
	"quarry/internal/searcher"
	"quarry/search"
)

// Search answers a query.
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

// SearchEach answers a query file by file, in the query's order, as soon as files are
// known. An error of yield ends the search and is returned. The summary is also returned if
// a limit ended the answer.
func (w *Workspace) SearchEach(ctx context.Context, q search.Query, yield func(*search.FileMatch) error) (*search.Summary, error) {
	q.Limits.Reads, q.Limits.ReadBytes = max(q.Limits.Reads, 0), max(q.Limits.ReadBytes, 0)
	return answer(ctx, w, func(ctx context.Context) (*search.Summary, error) {
		if q.Symbols && q.Detail == search.Lines {
			yield = lookup.Enclosing(ctx, w.b, yield)
		}
		return w.b.SearchEach(ctx, q, yield)
	})
}

// SearchText answers a query about one text outside of any workspace, such as standard
// input. Scope is ignored, except that its first path determines the language of a
// structure; the file's path is "".
func SearchText(ctx context.Context, r io.Reader, q search.Query, yield func(*search.FileMatch) error) (*search.Summary, error) {
	return searcher.Text(ctx, r, q, yield)
}

// Find lists the paths that match a scope.
func (w *Workspace) Find(ctx context.Context, q search.FindQuery) (*search.FindResult, error) {
	return answer(ctx, w, func(ctx context.Context) (*search.FindResult, error) { return w.b.Find(ctx, q) })
}

// SearchCode ranks pieces of files by relevance to a query of words.
func (w *Workspace) SearchCode(ctx context.Context, q search.CodeQuery) (*search.CodeResult, error) {
	return answer(ctx, w, func(ctx context.Context) (*search.CodeResult, error) { return w.b.SearchCode(ctx, q) })
}

// EachText calls look with the decoded text of every file of a query, on several
// goroutines. It calls yield with each non-nil result, one at a time and in path order. A
// text is valid until look returns. Binary files and files over 8 MB are skipped.
func (w *Workspace) EachText(ctx context.Context, q search.TextQuery, look func(path string, text []byte) any, yield func(path string, found any)) (*search.Summary, error) {
	return answer(ctx, w, func(ctx context.Context) (*search.Summary, error) { return w.b.EachText(ctx, q, look, yield) })
}

// Remember returns the result of an earlier make for the key, if no file visible to a
// query without options has changed since; otherwise it calls make. The value is shared and
// must not be modified. Only a workspace with an index of its own process remembers.
func (w *Workspace) Remember(ctx context.Context, key string, make func(context.Context) (any, error)) (any, error) {
	return answer(ctx, w, func(ctx context.Context) (any, error) {
		return w.b.Remember(ctx, key, func() (any, error) { return make(ctx) })
	})
}

// Stat describes the file at a path. A path that exists only in another case is found if
// it is unambiguous.
func (w *Workspace) Stat(ctx context.Context, path string) (*search.Info, error) {
	return answer(ctx, w, func(ctx context.Context) (*search.Info, error) { return w.b.Stat(ctx, path) })
}

// Read returns lines of a text file.
func (w *Workspace) Read(ctx context.Context, path string, opts *search.ReadOptions) (*search.Text, error) {
	return answer(ctx, w, func(ctx context.Context) (*search.Text, error) { return w.b.Read(ctx, path, opts) })
}

// ReadBytes returns the bytes of a file unchanged, text or not. A file over max bytes is
// refused; 0 means 1 GiB.
func (w *Workspace) ReadBytes(ctx context.Context, path string, max int64) ([]byte, error) {
	return answer(ctx, w, func(ctx context.Context) ([]byte, error) { return w.b.ReadBytes(ctx, path, max) })
}
