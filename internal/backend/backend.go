// Package backend gives access to the files of a workspace: a folder, or several
// presented as one.
//
// Every new change goes through the method Apply, so a wrapper of a Backend sees all of
// them. Undo and the trash have their own methods. Paths are relative and have slashes.
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

// Reader searches and reads files. None of its methods may change files, because an agent's
// calls of them are not reviewed.
type Reader interface {
	// SearchEach answers a query file by file, in the order that the query requests, as
	// soon as each file is known. An error of yield ends the search and is returned.
	SearchEach(ctx context.Context, q search.Query, yield func(*search.FileMatch) error) (*search.Summary, error)
	Find(ctx context.Context, q search.FindQuery) (*search.FindResult, error)
	SearchCode(ctx context.Context, q search.CodeQuery) (*search.CodeResult, error)
	// Symbols finds definitions. Those found by name have no lines and texts.
	Symbols(ctx context.Context, q search.SymbolQuery) (*search.SymbolResult, error)
	// EachText calls look with the decoded text of every file of a query, in parallel. It
	// passes the results that are not nil to yield, in path order.
	EachText(ctx context.Context, q search.TextQuery, look func(path string, text []byte) any, yield func(path string, found any)) (*search.Summary, error)
	// Remember returns the earlier result of make for key if no file has changed since;
	// otherwise it calls make. The result must not be modified.
	Remember(ctx context.Context, key string, make func() (any, error)) (any, error)
	Stat(ctx context.Context, path string) (*search.Info, error)
	Read(ctx context.Context, path string, opts *search.ReadOptions) (*search.Text, error)
	ReadBytes(ctx context.Context, path string, max int64) ([]byte, error)
	Index() Index

	// Dir returns the absolute path of the folder, or "" if there are several folders.
	Dir() string
	// Inside converts an absolute path to a path in the workspace.
	Inside(path string) (string, bool)
}

// Changes makes, lists, shows and undoes changes.
type Changes interface {
	History
	Changer
}

// Changer changes files. All its methods are implemented by the gate through which
// agents' changes are reviewed.
type Changer interface {
	// Apply makes all changes of a set or none. If the set has the digest of a plan,
	// exactly that plan is applied, or the set is refused.
	Apply(ctx context.Context, set change.Set) (*change.Change, error)
	// Undo undoes a change. "" means the latest change not yet undone.
	Undo(ctx context.Context, id string, o change.Options) (*change.Change, error)
	Restore(ctx context.Context, what, to string, o change.Options) (*change.Change, error)
	EmptyTrash(ctx context.Context, before time.Time) (int, error)
	Clean(ctx context.Context) (*change.Cleaned, error)
}

// History reports past changes and plans. It changes no files.
type History interface {
	// Plan computes what Apply would do.
	Plan(ctx context.Context, set change.Set) (*change.Change, error)
	// Diff shows a change from the journal.
	Diff(id string, o *change.Options) (*change.Change, error)
	// DiffAll shows several changes as one.
	DiffAll(ids []string) (*change.Change, error)
	// Authors reports which change last touched each line of a file.
	Authors(ctx context.Context, path string) (*change.Authors, error)
	// Purge removes the records of other programs' changes to a path, or all of them if it
	// is "".
	Purge(ctx context.Context, path string) error
	// Point names the current state so that it can be restored.
	Point(name string) error
	// Log lists the latest changes, newest first. A limit of 0 means all.
	Log(limit int) (*change.Log, error)
	Trashed() (items []change.Trashed, problems []string, err error)
}

// Index is the index of a backend.
type Index interface {
	Status(ctx context.Context) (*search.IndexStatus, error)
	// Wait waits until this process has built the index.
	Wait(ctx context.Context) error
	// Follow waits until it is ready, whichever process owns it.
	Follow(ctx context.Context, report func(search.Progress)) error
	// Idle returns the time since another process last sent a request.
	Idle() time.Duration
	// Recording describes the recording of other programs' changes. It returns nil without
	// an index.
	Recording(ctx context.Context) (*change.Recording, error)
	// Verify compares the index with the files and calls fault for every difference.
	Verify(ctx context.Context, fault func(path, what string), progress func(search.Progress)) (*search.Verification, error)
}

// Part is one of several backends, with its name.
type Part struct {
	Name string
	Backend
}

// cut returns the path below dir of an absolute path. ok is false if it is outside dir.
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
