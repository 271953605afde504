package quarry

import (
	"context"
	"io"

	"quarry/internal/searcher"
	"quarry/search"
)

// What a search or a reading may be refused for.
var (
	ErrNotText = search.ErrNotText
	ErrRange   = search.ErrRange
	ErrNoWords = search.ErrNoWords
)

// reader answers what changes nothing: a folder, or servers.
type reader interface {
	SearchEach(ctx context.Context, q search.Query, yield func(*search.FileMatch) error) (*search.Summary, error)
	Find(ctx context.Context, q search.FindQuery) (*search.FindResult, error)
	SearchCode(ctx context.Context, q search.CodeQuery) (*search.CodeResult, error)
	SearchNotes(ctx context.Context, q search.NotesQuery) (*search.NotesResult, error)
	Stat(ctx context.Context, path string) (*search.Info, error)
	Read(ctx context.Context, path string, opts *search.ReadOptions) (*search.Text, error)
	ReadBytes(ctx context.Context, path string, max int64) ([]byte, error)
}

// Search answers a query.
func (w *Workspace) Search(ctx context.Context, q search.Query) (*search.Result, error) {
	r := &search.Result{}
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

// SearchText answers a query about one text that lies in no workspace, such as
// standard input. Scope is ignored; the file's path is "".
func SearchText(ctx context.Context, r io.Reader, q search.Query, yield func(*search.FileMatch) error) (*search.Summary, error) {
	return searcher.Text(ctx, r, q, yield)
}
