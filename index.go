package quarry

import (
	"context"
	"time"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/notefields"
	"quarry/internal/owner"
	"quarry/search"
)

// IndexOptions define where the index of a workspace is and who may own it.
type IndexOptions struct {
	// Dir is the folder of this index, private to its user and outside the workspace. All
	// workspaces of a folder share one index, whatever their policies and rules.
	Dir string
	// Socket is where the index owner answers other processes; "" means it doesn't
	// share the index.
	Socket string
	// Home is the folder of the indexes of all workspaces, including Dir. If it is set, a
	// missing Dir is made. When all indexes together exceed MaxBytes, the least recently used
	// ones are deleted, but never one that a process owns.
	Home string
	// MaxBytes limits all indexes in Home together; 0 means 10 GB.
	MaxBytes int64
	// Record lets the index owner record changes by other programs, so that they can be
	// listed and undone like our own. Recording continues while at least one process asks for
	// it.
	Record *RecordOptions
	// Ask makes the workspace a client only: it uses an index that another process owns,
	// and scans if there is none. It is for short-lived programs.
	Ask bool
	// MaxWatches limits the watched folders; 0 leaves it to the system.
	MaxWatches int
	// MaxIgnored is how many ignored files the index may hold; 0 means 20,000. If there
	// are more, it holds none of them, and a search for ignored files scans.
	MaxIgnored int
	// Frugal lets a build of many files change this process's garbage collection and
	// memory limit (debug.SetGCPercent, SetMemoryLimit) until it is done. It is for programs
	// that do little else: 314,316 files then take 236 MB.
	Frugal bool
	// Progress is called with the progress of a build, from any goroutine.
	Progress func(search.Progress)
	// Version is the version and Program the file of the program that opens the
	// workspace. IndexStatus reports them.
	Version, Program string
}

// RecordOptions limit the recorded changes of other programs. They are stored beside the
// undo log, in Options.StateDir, and never use its space.
type RecordOptions struct {
	MaxBytes int64         // contents and changes together; 0 means 512 MB
	KeepAge  time.Duration // 0 means 14 days
}

func (o *IndexOptions) owner(state string) *owner.Options {
	var record *owner.Record
	if o.Record != nil && state != "" {
		record = &owner.Record{StateDir: state, MaxBytes: o.Record.MaxBytes, KeepAge: o.Record.KeepAge}
	}
	return &owner.Options{Record: record,
		Dir: o.Dir, Socket: o.Socket, Home: o.Home, MaxBytes: o.MaxBytes, Ask: o.Ask, MaxWatches: o.MaxWatches, MaxIgnored: o.MaxIgnored, Frugal: o.Frugal, Progress: o.Progress,
		Version: o.Version, Program: o.Program, Fields: notefields.Extractor(),
	}
}

var (
	// ErrIndexInUse is returned for an index that a process owns.
	ErrIndexInUse = owner.ErrInUse
	// ErrNotOwner is returned for a call that only the index owner can make. Its code is
	// fault.IndexNotFound, as for a workspace without an index.
	ErrNotOwner = owner.ErrNotOwner
)

// DeleteIndex deletes an index that no process owns, and reports whether it existed. Dir
// and Home must be set.
func DeleteIndex(opts *IndexOptions) (bool, error) {
	if opts == nil || opts.Dir == "" || opts.Home == "" {
		return false, fault.New(fault.InvalidArgument, "Dir and Home say which index to delete; one of them is empty", "")
	}
	return owner.Delete(&owner.Options{Dir: opts.Dir, Home: opts.Home})
}

// Index is the index of a workspace. Searches use it automatically. Its methods wait for
// it, report on it or verify it.
type Index struct{ w *Workspace }

// Index returns the workspace's index.
func (w *Workspace) Index() *Index { return &Index{w} }

// Status reports the state of the index. If no process owns it, the state is
// not_found, and DiskBytes is the size of the stored index.
func (x *Index) Status(ctx context.Context) (*search.IndexStatus, error) {
	return answer(ctx, x.w, x.w.b.Index().Status)
}

// Wait waits until this process has built the index. It returns an error if that isn't
// possible.
func (x *Index) Wait(ctx context.Context) error { return x.wait(ctx, x.w.b.Index().Wait) }

func (x *Index) wait(ctx context.Context, call func(context.Context) error) error {
	_, err := answer(ctx, x.w, func(ctx context.Context) (bool, error) { return true, call(ctx) })
	return err
}

// Follow waits until the index is ready, whichever process owns it, and reports
// its progress about ten times a second, on the calling goroutine.
func (x *Index) Follow(ctx context.Context, report func(search.Progress)) error {
	return x.wait(ctx, func(ctx context.Context) error { return x.w.b.Index().Follow(ctx, report) })
}

// Idle returns the time since another process last sent a request.
func (x *Index) Idle() time.Duration { return x.w.b.Index().Idle() }

// Verify compares the index with the files. It reads every file again and checks that
// the index has all its grams, that the list of paths equals a walk's, and that searches for
// words of the files find the same as a scan. It calls fault for every difference. progress
// may be nil.
func (x *Index) Verify(ctx context.Context, fault func(path, what string), progress func(search.Progress)) (*search.Verification, error) {
	return answer(ctx, x.w, func(ctx context.Context) (*search.Verification, error) {
		return x.w.b.Index().Verify(ctx, fault, progress)
	})
}

// SendMark tells the index owner of a workspace that a tool of another program begins or
// has ended; see change.Mark for the rules. It uses only Socket of the options and opens or
// starts nothing, so that a hook of a client can call it before and after each tool. It is
// an error if no process owns the index.
func SendMark(ctx context.Context, opts *IndexOptions, mark change.Mark) (*change.Marked, error) {
	return owner.SendMark(ctx, opts.Socket, &mark)
}

// Recording reports on the recording of changes that other programs make; nil if no
// process has an index.
func (w *Workspace) Recording(ctx context.Context) (*change.Recording, error) {
	return answer(ctx, w, w.b.Index().Recording)
}
