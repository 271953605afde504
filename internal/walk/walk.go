// Package walk lists the files below a folder, in parallel.
//
// Every readable folder is visited once; ignored, hidden, protected and filtered ones are
// pruned before they are opened. Problems below a folder never stop the rest: unreadable,
// looping and vanished entries are reported and counted, never silently missing. Walk calls
// back in no order and from several goroutines; Ordered calls back in path order from one.
package walk

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"quarry/internal/crew"
	"quarry/internal/glob"
	"quarry/internal/ignore"
	"quarry/internal/policy"
	"quarry/internal/rootfs"
)

// Options select the entries that a walk omits. The zero value walks the whole root as a
// search does by default.
type Options struct {
	// Start is the folder to walk. It is walked even if it is ignored or hidden.
	Start rootfs.Path
	// Hidden includes entries whose name starts with a dot. Without it they are
	// listed only if a negated rule (!.github) includes them, as in ripgrep, and
	// with StrictHidden never.
	Hidden, StrictHidden bool
	// NoVCS leaves .gitignore and info/exclude files unread, NoDot .ignore, .rgignore and
	// .rooignore files, NoParents the rule files of the folders between the root and
	// Start. NoIgnore is all of them and drops Rules as well.
	NoIgnore, NoVCS, NoDot, NoParents bool
	// NoExclude leaves info/exclude files unread.
	NoExclude bool
	// Fd reads .fdignore instead of .rgignore and .rooignore.
	Fd bool
	// RequireGit leaves .gitignore files outside git repositories unread. The caller omits
	// git's own rules from Rules; GitRules apply in each repository.
	RequireGit bool
	GitRules   []ignore.Set
	// Rules apply at the root in addition to the files found: the global excludes, a
	// repository around the root. The caller applies the switches above to them.
	Rules []ignore.Set
	// MaxIgnored also lists files that the rules exclude, with Entry.Ignored set, up to
	// this many. If there are more, only some are listed, and Report.Marked is larger. 0
	// lists none.
	MaxIgnored int
	// Filter applies globs to the path below Start. Folders in which no file could pass are
	// not entered.
	Filter *glob.Filter
	// MaxDepth bounds the depth of files below Start: 1 is only the files in Start. 0 is no
	// bound.
	MaxDepth int
	// Links lists symlinks as files of type TypeSymlink, if they are not followed.
	Links bool
	// FollowLinks enters symlinks to folders in the root.
	FollowLinks bool
	// OneFileSystem skips folders on another file system than Start.
	OneFileSystem bool
	// Workers is the number of goroutines; 0 is one for each processor.
	Workers int
	// Batch is the largest number of files in one Visit; 0 is 1,024. Folders
	// with more are split, so that several workers share them.
	Batch int
	// MaxSkips bounds Report.Skipped; 0 is 1,000. Counts stay exact.
	MaxSkips int
	// Before, if set, is called with the path of each folder before it is opened,
	// from any goroutine. The walk of that folder waits for it.
	Before func(shown string)
	// Denied, if set, is called from any goroutine with each file that would be listed
	// without the policy, and reports whether it counts in Report.Denied. nil counts all.
	Denied func(shown, name string) bool
	// Protected, if set, is called from any goroutine with each folder that the policy closes.
	Protected func(path string)
	// Waiting, if set, is called when Each begins and when it ends waiting for
	// a result.
	Waiting func(bool)
}

// Visit is one folder, or a part of a large one.
type Visit struct {
	// Path is the real path of the folder, Shown the path by which the walk found it; they
	// differ below a followed symlink. Shown is "" for the root.
	Path  rootfs.Path
	Shown string
	// Dir is open until the callback returns, so files can be opened by name.
	Dir *rootfs.Dir
	// Files passed all rules. They and their names are valid until the callback returns;
	// clone those that live longer. A followed symlink to a file has type TypeSymlink and
	// opens by resolving its path.
	Files []rootfs.Entry
	// Dirs are the folders that will be entered, in the folder's first Visit.
	Dirs []rootfs.Entry
	// Parts is the number of visits of the folder.
	Parts int
	// Worker is a number below Options.Workers; no two calls with the same
	// number run at once, so it can index scratch space.
	Worker int
}

// Reason is the reason why an entry was omitted.
type Reason uint8

const (
	Hidden     Reason = iota // a dot entry
	Protected                // the policy denies it, or omits it from listings (.trash)
	Ignored                  // by an ignore file
	Filtered                 // by the globs, or deeper than MaxDepth
	Symlink                  // not followed, or leading nowhere
	Special                  // a FIFO, socket or device
	Unreadable               // the system refused, or it is broken
	Vanished                 // gone, or no longer a folder, at its visit
	Loop                     // a symlink to a folder that contains it
	Outside                  // a symlink out of the root
	reasons
)

func (r Reason) String() string {
	return [...]string{"hidden", "protected", "ignored", "filtered", "symlink", "special", "unreadable", "vanished", "loop", "outside"}[r]
}

// Skip is an entry that was omitted against the caller's options.
type Skip struct {
	Path   string // relative to the root
	Reason Reason // Unreadable, Vanished, Loop or Outside
	Err    error  // may be nil
	// Ignored reports whether the rules exclude the entry or a folder above it.
	Ignored bool
}

// Report describes a walk.
type Report struct {
	Files, Dirs int          // visited
	Counts      [reasons]int // omitted entries, by Reason; a pruned folder counts once
	Skipped     []Skip       // in path order, at most MaxSkips
	// Denied counts the files and folders that would have been listed or entered without
	// the policy: those denied by a rule of the owner, and those named like a secret. A
	// folder counts once.
	Denied int
	// Secrets are some of those named like a secret, in no order.
	Secrets []string
	// Marked counts the files found with Entry.Ignored set; if it exceeds MaxIgnored, not
	// all of them were visited.
	Marked int
}

// Count returns how many entries were omitted for a reason.
func (r *Report) Count(why Reason) int { return r.Counts[why] }

// Walk visits the folders below opts.Start. An error of visit or of the context
// stops the walk and is returned, and so is an error about Start itself. Errors
// about entries below Start are only reported.
func Walk(ctx context.Context, root *rootfs.Root, opts *Options, visit func(*Visit) error) (Report, error) {
	return newWalker(root, opts, visit).run(ctx)
}

const (
	defaultBatch = 1024
	defaultSkips = 1000
	// Up to this number, handles of folders with waiting subfolders are kept open, because
	// opening a subfolder from them is faster than resolving its path again. Beyond it,
	// paths are used.
	defaultHandles = 256
)

// walker is the state shared by all workers.
type walker struct {
	opts    Options
	root    *rootfs.Root
	policy  *policy.Policy
	visit   func(*Visit) error
	ordered bool // visit folders in path order
	front   front
	// For Ordered; may be nil. announce is called with the folders that will be entered
	// before any of them is entered; missed with those, or parts of them, that could not be
	// entered.
	announce func(shown string, dirs []rootfs.Entry)
	missed   func(shown string, parts int)
	below    int          // bytes of a shown path up to Start, with the slash
	handles  atomic.Int32 // open now
	marked   atomic.Int64 // ignored files found, with MaxIgnored
	keep     int32        // the number of handles that may wait

	workers []worker
	pending atomic.Int64 // tasks queued or running
	idle    atomic.Int32 // workers that found nothing to do
	stop    atomic.Bool
	// startOthers is called when there is work for more than one worker. Starting unused
	// threads would add a fifth to the time of a walk of a small folder.
	startOthers func()
	wake        sync.Cond // signalled when there is work for an idle worker, or none at all

	device uint64 // of Start, with OneFileSystem

	mu      sync.Mutex
	err     error
	skipped []Skip
}

func newWalker(root *rootfs.Root, opts *Options, visit func(*Visit) error) *walker {
	w := &walker{root: root, policy: root.Policy(), visit: visit, keep: defaultHandles}
	if opts != nil {
		w.opts = *opts
	}
	o := &w.opts
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Batch <= 0 {
		o.Batch = defaultBatch
	}
	if o.MaxSkips <= 0 {
		o.MaxSkips = defaultSkips
	}
	if !o.Start.IsRoot() {
		w.below = len(o.Start.String()) + 1
	}
	w.wake.L = new(sync.Mutex)
	return w
}

func (w *walker) run(ctx context.Context) (Report, error) {
	if err := ctx.Err(); err != nil {
		return Report{}, err
	}
	start, err := w.root.OpenDir(w.opts.Start)
	if err != nil {
		return Report{}, err
	}
	if w.opts.OneFileSystem {
		info, err := start.Info()
		if err != nil {
			start.Close()
			return Report{}, err
		}
		w.device = info.Dev
	}
	start.Close()
	w.workers = make([]worker, w.opts.Workers)
	for i := range w.workers {
		w.workers[i].walker, w.workers[i].id = w, i
	}
	first := &w.workers[0]
	w.pending.Store(1)
	begin := []task{{path: w.opts.Start, shown: plainPath(w.opts.Start), frame: first.framesAbove()}}
	if w.ordered {
		w.front.tasks = begin
	} else {
		first.tasks = begin
	}

	stopWaiting := context.AfterFunc(ctx, w.halt)
	defer stopWaiting()
	others := crew.Group{Stop: w.halt}
	w.startOthers = sync.OnceFunc(func() {
		for i := range w.workers[1:] {
			others.Go(w.workers[1+i].loop)
		}
	})
	others.Do(first.loop)
	err = others.WaitErr()
	w.discard(w.front.tasks)
	for i := range w.workers {
		w.discard(w.workers[i].tasks)
	}
	if err != nil {
		panic(err) // of a worker, on the goroutine of the caller
	}
	if w.err == nil {
		w.err = ctx.Err()
	}
	return w.report(), w.err
}

// halt makes all workers stop after their current task.
func (w *walker) halt() {
	w.stop.Store(true)
	w.wake.L.Lock()
	w.wake.Broadcast()
	w.wake.L.Unlock()
}

func (w *walker) fail(err error) {
	w.mu.Lock()
	if w.err == nil {
		w.err = err
	}
	w.mu.Unlock()
	w.halt()
}
