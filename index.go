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

// IndexOptions defines where the index of a workspace is and which process may own it.
type IndexOptions struct {
	// Dir is the folder of this index. It must be private to the user and outside the workspace.
	// All workspaces of a folder share one index, even if their policies and rules differ.
	Dir string
	// Socket is the address at which the index owner answers other processes; "" means that it
	// doesn't share the index.
	Socket string
	// Home is the folder that contains the indexes of all workspaces, including Dir. If it is set,
	// a missing Dir is created. When the indexes exceed MaxBytes in total, the least recently used
	// are deleted, but never one that a process owns.
	Home string
	// MaxBytes limits the total size of the indexes in Home; 0 means 10 GB.
	MaxBytes int64
	// Record makes the index owner record changes by other programs, which can then be listed and
	// undone too. Recording continues as long as at least one process requests it.
	Record *RecordOptions
	// Ask makes the workspace only use an index that another process owns; it scans if there is
	// none. It is for short-lived programs.
	Ask bool
	// MaxWatches limits the number of watched folders; 0 means the system's limit.
	MaxWatches int
	// MaxIgnored is how many ignored files the index may contain; 0 means 20,000. If a workspace
	// has more, the index contains none, and a search for ignored files scans.
	MaxIgnored int
	// Frugal allows the build of a large index to change this process's garbage collection and
	// memory limit (debug.SetGCPercent, SetMemoryLimit) until it is complete. It is for programs
	// that do little else. With it, indexing 314,316 files takes 236 MB.
	Frugal bool
	// Progress is called, on any goroutine, with the progress of building the index.
	Progress func(search.Progress)
	// Version and Program are the version and the file of the program that opens the workspace;
	// IndexStatus reports them.
	Version, Program string
}

// RecordOptions limits the recorded changes of other programs. The records are stored next to the
// undo log, in Options.StateDir, but don't count towards its limits.
type RecordOptions struct {
	MaxBytes int64         // total size of contents and changes; 0 means 512 MB
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
	// ErrIndexInUse is returned for an index that another process owns.
	ErrIndexInUse = owner.ErrInUse
	// ErrNotOwner is returned by calls that only the index owner can make. Its code is
	// fault.IndexNotFound, as for a workspace without an index.
	ErrNotOwner = owner.ErrNotOwner
)

// DeleteIndex deletes an index that no process owns. It reports whether the index existed. Dir and
// Home must be set.
func DeleteIndex(opts *IndexOptions) (bool, error) {
	if opts == nil || opts.Dir == "" || opts.Home == "" {
		return false, fault.New(fault.InvalidArgument, "Dir and Home say which index to delete; one of them is empty", "")
	}
	return owner.Delete(&owner.Options{Dir: opts.Dir, Home: opts.Home})
}

// Index is the index of a workspace. Searches use it automatically; its methods wait for it, report
// on it or verify it.
type Index struct{ w *Workspace }

// Index returns the workspace's index.
func (w *Workspace) Index() *Index { return &Index{w} }

// Status returns the state of the index. If no process owns the index, the state is not_found, and
// DiskBytes is the size of the stored index.
func (x *Index) Status(ctx context.Context) (*search.IndexStatus, error) {
	return answer(ctx, x.w, x.w.b.Index().Status)
}

// Wait waits until this process has built the index. It returns an error if this process can't do
// so.
func (x *Index) Wait(ctx context.Context) error { return x.wait(ctx, x.w.b.Index().Wait) }

func (x *Index) wait(ctx context.Context, call func(context.Context) error) error {
	_, err := answer(ctx, x.w, func(ctx context.Context) (bool, error) { return true, call(ctx) })
	return err
}

// Follow waits until the index is ready, whichever process owns it. About ten times a second it
// calls report with the progress, on the calling goroutine.
func (x *Index) Follow(ctx context.Context, report func(search.Progress)) error {
	return x.wait(ctx, func(ctx context.Context) error { return x.w.b.Index().Follow(ctx, report) })
}

// Idle returns the time since the last request from another process.
func (x *Index) Idle() time.Duration { return x.w.b.Index().Idle() }

// Verify compares the index with the files. It reads every file again and checks that the index
// contains all of the file's grams, that the index lists the same paths as a walk, and that
// searches for words of the files find the same as a scan. It calls fault for every difference.
// progress may be nil.
func (x *Index) Verify(ctx context.Context, fault func(path, what string), progress func(search.Progress)) (*search.Verification, error) {
	return answer(ctx, x.w, func(ctx context.Context) (*search.Verification, error) {
		return x.w.b.Index().Verify(ctx, fault, progress)
	})
}

// SendMark tells the index owner of a workspace that a tool of another program starts or has ended;
// the rules are at change.Mark. It uses only the option Socket and doesn't open the workspace or
// start a process, so a client's hook can call it before and after each tool. It returns an error
// if no process owns the index.
func SendMark(ctx context.Context, opts *IndexOptions, mark change.Mark) (*change.Marked, error) {
	return owner.SendMark(ctx, opts.Socket, &mark)
}

// Recording returns the state of recording other programs' changes; nil if no process owns the
// index.
func (w *Workspace) Recording(ctx context.Context) (*change.Recording, error) {
	return answer(ctx, w, w.b.Index().Recording)
}
