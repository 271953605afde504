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
	"sync/atomic"

	"quarry/fault"
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
	// Refresh, if set, is called before each answer. It may call Renew.
	Refresh func()

	renewed atomic.Pointer[outlook] // instead of Rules and Index
	ahead   int                     // for tests: instead of aheadBytes
}

// outlook is what a Folder sees beside its files: rules from outside, and an
// index through them.
type outlook struct {
	rules []ignore.Set
	index Index
}

// Renew replaces the rules from outside, and the index as seen through them.
func (d *Folder) Renew(rules []ignore.Set, ix Index) { d.renewed.Store(&outlook{rules, ix}) }

func (d *Folder) outlook() outlook {
	if o := d.renewed.Load(); o != nil {
		return *o
	}
	return outlook{d.Rules, d.Index}
}

func (d *Folder) index() Index { return d.outlook().index }

// errGone is for a workspace whose folder can't be followed.
var errGone = fault.New(fault.IOError, "the workspace's folder is not there any more",
	"it was moved, deleted or replaced by something that is not a folder of the same user; put it back or open another one")

// here makes sure that the folder is the one at its path: a workspace that was
// moved away, cloned anew or restored from a copy is followed to what stands in
// its place. It reports whether it was, and tells the Watch of ctx.
func (d *Folder) here(ctx context.Context) (followed bool, err error) {
	if d.Refresh != nil {
		d.Refresh()
	}
	followed, err = d.Root.Follow()
	if err != nil {
		d.Logger.Warn("the workspace's folder is gone", "err", err)
		return false, errGone
	}
	if followed {
		d.Logger.Warn("the workspace's folder was replaced; the one in its place is used from now on")
		if w := search.WatchOf(ctx); w != nil {
			w.Replaced.Store(true)
		}
	}
	return followed, nil
}

// Index is what may spare a Folder the reading of files: an index in this
// process, or another process that has one.
type Index interface {
	// Search lets the process that has the index search. If it doesn't, sum is
	// nil, and what a search then finds is for rest.
	Search(ctx context.Context, q *search.Query, yield func(*search.FileMatch) error) (sum *search.Summary, rest func(*search.FileMatch) error, err error)
	// Find is the same for paths.
	Find(ctx context.Context, q *search.FindQuery) (*search.FindResult, error)
	// Code is the same for a ranked search.
	Code(ctx context.Context, q *search.CodeQuery) (*search.CodeResult, error)

	// Ready reports whether this process has an index that can answer a question
	// sooner than a scan; nil is for one about paths. Fresh gives the index as of
	// now, Covers reports whether it has the files of a folder,
	// and Lens is what of it the folder's policy and rules let show.
	// HasIgnored reports whether ignored files may be in it; the Snapshot knows.
	Ready(ask *index.Ask) bool
	Fresh(ctx context.Context) (*index.Snapshot, error)
	HasIgnored() bool
	Covers(snap *index.Snapshot, dir rootfs.Path, ignored bool) bool
	Lens(hidden, ignored bool) *index.Lens
}
