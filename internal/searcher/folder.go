// Package searcher answers one search of a folder, by an index or by a walk.
//
// An answer is the same as if every file in scope were read and searched. An index only
// avoids reading some of them. Files are delivered in the order that the query
// requests, regardless of the number of workers, and the summary lists omitted files with
// their reasons. A Folder is safe for concurrent use.
package searcher

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"

	"quarry/fault"
	"quarry/internal/ignore"
	"quarry/internal/index"
	"quarry/internal/progress"
	"quarry/internal/rootfs"
	"quarry/search"
)

// Folder searches a folder.
type Folder struct {
	Root    *rootfs.Root
	Rules   []ignore.Set // rules from outside the folder
	Workers int
	Logger  *slog.Logger
	Index   Index
	// Refresh, if set, is called before each answer. It may call Renew.
	Refresh func()

	renewed atomic.Pointer[outlook] // replaces Rules and Index
	turns   turns
	large   largeNames
	memory  memory
	ahead   int // for tests: replaces aheadBytes
}

// turns limits concurrent calls that read definitions to maxReading. Each call may use
// fifty times the memory of its text, and a client may send hundreds of calls.
type turns struct {
	once  sync.Once
	taken chan struct{}
}

const maxReading = 4

// take waits for a turn. The caller ends the turn with give.
func (t *turns) take(ctx context.Context) (give func(), err error) {
	t.once.Do(func() { t.taken = make(chan struct{}, maxReading) })
	select {
	case t.taken <- struct{}{}:
		return func() { <-t.taken }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// outlook is the state of a Folder that Renew replaces: the rules from outside, and an
// index filtered by them.
type outlook struct {
	rules []ignore.Set
	index Index
}

// Renew replaces the rules from outside, and the index that is filtered by them.
func (d *Folder) Renew(rules []ignore.Set, ix Index) { d.renewed.Store(&outlook{rules, ix}) }

func (d *Folder) outlook() outlook {
	if o := d.renewed.Load(); o != nil {
		return *o
	}
	return outlook{d.Rules, d.Index}
}

func (d *Folder) index() Index { return d.outlook().index }

// errGone is returned if there is no usable folder at the workspace's path any more.
var errGone = fault.New(fault.IOError, "the workspace's folder is not there any more",
	"it was moved, deleted or replaced by something that is not a folder of the same user; put it back or open another one")

// here makes sure that the open folder is still the one at its path. If that folder was
// moved away, cloned again or restored from a copy, here opens the folder now at the
// path. followed reports whether that happened; it is also recorded in the Watch of ctx.
func (d *Folder) here(ctx context.Context) (followed bool, err error) {
	if d.Refresh != nil {
		d.Refresh()
	}
	return d.present(ctx)
}

// present is like here, for access to a named file, to which ignore rules don't apply.
func (d *Folder) present(ctx context.Context) (followed bool, err error) {
	followed, err = d.Root.Follow()
	if errors.Is(err, rootfs.ErrClosed) {
		return false, rootfs.ErrClosed
	}
	if err != nil {
		d.Logger.Warn("the workspace's folder is gone", "err", err)
		return false, errGone
	}
	if followed {
		d.Logger.Warn("the workspace's folder was replaced; the one in its place is used from now on")
		if w := progress.Of(ctx); w != nil {
			w.Replaced.Store(true)
		}
	}
	return followed, nil
}

// Index is an index in this process, or a client of another process that has one. With it
// a Folder can skip files.
type Index interface {
	// Search asks the index owner to search. If the owner doesn't, sum is nil, and the
	// caller searches and passes its matches to rest.
	Search(ctx context.Context, q *search.Query, yield func(*search.FileMatch) error) (sum *search.Summary, rest func(*search.FileMatch) error, err error)
	// Find does the same for paths.
	Find(ctx context.Context, q *search.FindQuery) (*search.FindResult, error)
	// Code does the same for a ranked search.
	Code(ctx context.Context, q *search.CodeQuery) (*search.CodeResult, error)
	// Symbols does the same for definitions.
	Symbols(ctx context.Context, q *search.SymbolQuery) (*search.SymbolResult, error)

	// Fields does the same for the fields that the index stores for files; see
	// Folder.Fields.
	Fields(ctx context.Context, q *search.TextQuery, look func(path string, values []byte, counts []uint8)) (read []string, sum *search.Summary, err error)

	// Ready reports whether this process has an index that can answer a question faster
	// than a scan; if ask is nil, the question is about paths. Fresh returns the current
	// state of the index. Covers reports whether the index includes the files of a
	// folder. Lens filters the index by the folder's policy and rules. HasIgnored reports
	// whether the index may include ignored files; only the Snapshot knows for certain.
	Ready(ask *index.Ask) bool
	Fresh(ctx context.Context) (*index.Snapshot, error)
	HasIgnored() bool
	Covers(snap *index.Snapshot, dir rootfs.Path, ignored bool) bool
	Lens(hidden, ignored bool) *index.Lens
	// Yield makes a build in this process wait until end is called. It is for searches that read
	// the files themselves.
	Yield() (end func())
}
