// Package backend is where the files of a workspace are: a folder, or several as one.
//
// The invariant: every new change goes through one method, Apply, so whatever wraps a
// Backend sees all of them. Undo and the trash have methods of their own. Paths are
// relative and have slashes.
package backend

import (
	"context"
	"runtime"
	"strings"
	"time"

	"quarry/change"
	"quarry/search"
)

// Backend searches and changes the files of a workspace. It is safe for
// concurrent use.
type Backend interface {
	Reader
	Changes
	Close() error
}

// Reader searches and reads files. No method of it changes one: an agent's calls
// reach it without review.
type Reader interface {
	// SearchEach answers a query file by file, in the query's order, as soon as
	// files are known. An error of yield ends the search and is returned.
	SearchEach(ctx context.Context, q search.Query, yield func(*search.FileMatch) error) (*search.Summary, error)
	Find(ctx context.Context, q search.FindQuery) (*search.FindResult, error)
	SearchCode(ctx context.Context, q search.CodeQuery) (*search.CodeResult, error)
	// Symbols finds definitions. Those of a name have no lines and texts yet.
	Symbols(ctx context.Context, q search.SymbolQuery) (*search.SymbolResult, error)
	// EachText runs look on the decoded text of every file of a query, in
	// parallel. It passes each result that is not nil to yield, in path order.
	EachText(ctx context.Context, q search.TextQuery, look func(path string, text []byte) any, yield func(path string, found any)) (*search.Summary, error)
	// Remember returns what make has returned for the key, if no file has changed
	// since; otherwise it calls make. Nobody may change the value.
	Remember(ctx context.Context, key string, make func() (any, error)) (any, error)
	Stat(ctx context.Context, path string) (*search.Info, error)
	Read(ctx context.Context, path string, opts *search.ReadOptions) (*search.Text, error)
	ReadBytes(ctx context.Context, path string, max int64) ([]byte, error)
	Index() Index

	// Dir is the absolute path of the folder; "" if there is no single folder.
	Dir() string
	// Inside converts an absolute path to one in the workspace.
	Inside(path string) (string, bool)
}

// Changes are made, listed, shown and undone.
type Changes interface {
	History
	Changer
}

// Changer changes files. An agent's changes are reviewed by a gate that implements
// every method of it.
type Changer interface {
	// Apply makes all changes of a set or none. A set with the digest of a plan
	// applies exactly that plan, or is refused.
	Apply(ctx context.Context, set change.Set) (*change.Change, error)
	// Undo undoes a change; "" is the last one that was not undone.
	Undo(ctx context.Context, id string, o change.Options) (*change.Change, error)
	Restore(ctx context.Context, what, to string, o change.Options) (*change.Change, error)
	EmptyTrash(ctx context.Context, before time.Time) (int, error)
	Clean(ctx context.Context) (*change.Cleaned, error)
}

// History shows changes that were made, and plans. It changes no file.
type History interface {
	// Plan computes what Apply would do.
	Plan(ctx context.Context, set change.Set) (*change.Change, error)
	// Diff shows a change as the journal has it.
	Diff(id string, o *change.Options) (*change.Change, error)
	// DiffAll shows several as one.
	DiffAll(ids []string) (*change.Change, error)
	// Authors says which change touched each line of a file last.
	Authors(ctx context.Context, path string) (*change.Authors, error)
	// Purge removes what was recorded of other programs about a path, or everything if it
	// is "".
	Purge(ctx context.Context, path string) error
	// Point gives the present a name, to go back to.
	Point(name string) error
	// Log lists the newest changes, newest first; a limit of 0 is all.
	Log(limit int) (*change.Log, error)
	Trashed() (items []change.Trashed, problems []string, err error)
}

// Index is the index of a backend.
type Index interface {
	Status(ctx context.Context) (*search.IndexStatus, error)
	// Wait waits until this process has built it.
	Wait(ctx context.Context) error
	// Follow waits until it is ready, whichever process owns it.
	Follow(ctx context.Context, report func(search.Progress)) error
	// Idle is how long ago another process last asked something.
	Idle() time.Duration
	// Recording reports on the recording of what other programs change; nil without
	// an index.
	Recording(ctx context.Context) (*change.Recording, error)
	// Verify compares it with the files and calls fault for every difference.
	Verify(ctx context.Context, fault func(path, what string), progress func(search.Progress)) (*search.Verification, error)
}

// Part is a backend that is one of several, and its name there.
type Part struct {
	Name string
	Backend
}

// cut returns the rest of an absolute path that is in a folder.
func cut(dir, path string) (rest string, ok bool) {
	dir = strings.TrimSuffix(strings.ReplaceAll(dir, `\`, "/"), "/")
	path = strings.ReplaceAll(path, `\`, "/")
	if dir == "" || len(path) < len(dir) || !samePath(path[:len(dir)], dir) || len(path) > len(dir) && path[len(dir)] != '/' {
		return "", false
	}
	return strings.TrimPrefix(path[len(dir):], "/"), true
}

func samePath(a, b string) bool {
	if runtime.GOOS == "windows" {
		return strings.EqualFold(a, b)
	}
	return a == b
}
