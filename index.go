package quarry

import (
	"context"
	"time"

	"quarry/internal/backend"
	"quarry/internal/owner"
	"quarry/search"
)

// IndexOptions say where the index of a workspace lives and who may own it.
type IndexOptions struct {
	// Dir is the folder of this index, private to its user and outside the
	// workspace. All workspaces of a folder share one, whatever policy and rules
	// they have.
	Dir string
	// Socket is where the process that owns the index answers others; ""
	// shares with nobody.
	Socket string
	// Home is the folder in which the indexes of all workspaces lie, Dir among
	// them. With it, Dir is made when it is missing, and the indexes used
	// longest ago are deleted when all together have more than MaxBytes; those
	// that a process owns stay.
	Home string
	// MaxBytes bounds all indexes in Home together; 0 is 10 GB.
	MaxBytes int64
	// Ask only uses an index that another process owns. It is for short-lived
	// programs: without one, they scan.
	Ask bool
	// MaxWatches bounds the folders watched; 0 leaves it to the system.
	MaxWatches int
	// MaxIgnored is how many files that ignore rules exclude may be in the index;
	// 0 is 20,000. With more, a search that asks for them scans.
	MaxIgnored int
	// Progress hears how a build goes, from any goroutine.
	Progress func(search.Progress)
	// Version and Program are of the program that opens the workspace, as its
	// version and its file, for those who ask the owner for its status.
	Version, Program string
}

func (o *IndexOptions) owner() *owner.Options {
	return &owner.Options{
		Dir: o.Dir, Socket: o.Socket, Home: o.Home, MaxBytes: o.MaxBytes, Ask: o.Ask, MaxWatches: o.MaxWatches, MaxIgnored: o.MaxIgnored, Progress: o.Progress,
		Version: o.Version, Program: o.Program,
	}
}

var (
	// ErrIndexInUse is returned for an index that a process owns.
	ErrIndexInUse = owner.ErrInUse
	// ErrNotOwner is for what only the process that owns the index can do.
	ErrNotOwner = owner.ErrNotOwner
)

// DeleteIndex deletes an index that no process owns, and reports whether there
// was one. Home has to be set.
func DeleteIndex(opts *IndexOptions) (bool, error) {
	return owner.Delete(&owner.Options{Dir: opts.Dir, Home: opts.Home})
}

// Index is the index of a workspace. Searches use it without being asked to;
// its methods are for those who want to wait for it, watch it or check it.
type Index struct{ ix backend.Index }

// Index returns the workspace's index.
func (w *Workspace) Index() *Index { return &Index{w.b.Index()} }

// Status tells how the index is doing. Without a process that owns it the state
// is not_found; DiskBytes then tells what an earlier one has left.
func (x *Index) Status(ctx context.Context) (*search.IndexStatus, error) { return x.ix.Status(ctx) }

// Wait waits until this process has built the index. It fails when that isn't
// possible.
func (x *Index) Wait(ctx context.Context) error { return x.ix.Wait(ctx) }

// Follow waits until the index is ready, whichever process owns it, and reports
// how far it is about ten times a second, on the calling goroutine.
func (x *Index) Follow(ctx context.Context, report func(search.Progress)) error {
	return x.ix.Follow(ctx, report)
}

// Idle is how long no other process has asked anything.
func (x *Index) Idle() time.Duration { return x.ix.Idle() }

// Verify compares the index with the files: every file is read again and must
// have in the index all that a search would look for, the list of paths must be
// a walk's, and searches for words of the files must find what a scan finds.
// Every difference is told to fault. progress may be nil.
func (x *Index) Verify(ctx context.Context, fault func(path, what string), progress func(search.Progress)) (*search.Verification, error) {
	return x.ix.Verify(ctx, fault, progress)
}
