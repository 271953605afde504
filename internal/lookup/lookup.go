// Package lookup finds definitions in a workspace: by name, or of some files.
//
// Name decides which definitions answer a query, based only on their names, kinds,
// containers and files. So answers are the same with and without an index. Describe then
// reads the lines and texts of the few definitions to be shown from the current files.
package lookup

import (
	"context"

	"quarry/search"
)

// Source gives access to the files.
type Source interface {
	Read(ctx context.Context, path string, opts *search.ReadOptions) (*search.Text, error)
	ReadBytes(ctx context.Context, path string, max int64) ([]byte, error)
}
