// Package lookup finds definitions in a workspace: by name, or of some files.
//
// Name decides which definitions answer a query, from their names, kinds, containers and
// files alone, so answers are equal with and without an index. Describe then reads the
// lines and texts of the few shown definitions from the current content of their files.
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
