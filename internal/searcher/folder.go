// Package searcher answers one search: of a folder, by its index or by a walk,
// or of repositories on servers.
//
// An answer is that of reading every file in scope and running the pattern on
// it. An index or a server only says which files need no reading. Files come in
// the order the query asks for, whatever number of workers read them, and what
// was not searched is in the summary with its reason. A Folder and Servers are
// safe for concurrent use.
package searcher

import (
	"context"
	"log/slog"

	"quarry/internal/ignore"
	"quarry/internal/index"
	"quarry/internal/rootfs"
	"quarry/search"
)

// Folder searches a folder.
type Folder struct {
	Root    *rootfs.Root
	Rules   []ignore.Set // from outside the folder
	Workers int
	Logger  *slog.Logger
	Index   Index
}

// Index is what may spare a Folder the reading of files: an index in this
// process, or another process that has one.
type Index interface {
	// Search lets the process that has the index search. If it doesn't, sum is
	// nil, and what a search then finds is for rest.
	Search(ctx context.Context, q *search.Query, yield func(*search.FileMatch) error) (sum *search.Summary, rest func(*search.FileMatch) error, err error)
	// Find is the same for paths.
	Find(ctx context.Context, q *search.FindQuery) (*search.FindResult, error)

	// Ready reports whether this process has an index that can answer, Fresh
	// gives it as of now, Covers reports whether it has the files of a folder,
	// and Lens is what of it the folder's policy and rules let show.
	Ready() bool
	Fresh(ctx context.Context) (*index.Snapshot, error)
	Covers(dir rootfs.Path) bool
	Lens(hidden bool) *index.Lens
}
