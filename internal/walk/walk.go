// Package walk lists the files below a folder, in parallel.
//
// It visits every readable folder once. Ignored, hidden, protected and filtered folders are not
// opened. A problem below a folder never stops the walk: unreadable, looping and vanished entries
// are counted and reported. Walk calls back on several goroutines, in no particular order; Ordered
// calls back on one, in path order.
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

// Options select the entries of a walk. The zero value walks the whole root with the defaults of a
// search.
type Options struct {
	// Start is the folder to walk. It is walked even if it is ignored or hidden.
	Start rootfs.Path
	// Hidden includes entries whose name starts with a dot. Without it such an entry is listed only
	// if a negated rule (!.github) includes it, as in ripgrep. StrictHidden omits even those.
	Hidden, StrictHidden bool
	// NoVCS disables .gitignore and info/exclude files. NoDot disables .ignore, .rgignore and
	// .rooignore files. NoParents disables all rule files in the folders above Start, up to the
	// root. NoIgnore disables all of these and Rules.
	NoIgnore, NoVCS, NoDot, NoParents bool
	// NoExclude disables info/exclude files.
	NoExclude bool
	// Fd reads .fdignore instead of .rgignore and .rooignore.
	Fd bool
	// RequireGit disables .gitignore files outside git repositories. GitRules apply inside each
	// repository; the caller must not include git's own rules in Rules.
	RequireGit bool
	GitRules   []ignore.Set
	// Rules apply at the root in addition to the rule files found there, for example the user's
	// global excludes, or the rules of a repository around the root. The switches above don't
	// affect them, except NoIgnore; the caller has to apply these.
	Rules []ignore.Set
	// MaxIgnored makes the walk also list up to this many of the files that the rules exclude, with
	// Entry.Ignored set. If there are more, only some are listed, and Report.Marked exceeds
	// MaxIgnored. 0 lists none.
	MaxIgnored int
	// Filter applies globs to paths relative to Start. Folders that can't contain a matching file
	// are not entered.
	Filter *glob.Filter
	// MaxDepth limits the depth of files below Start: 1 means only the files in Start. 0 means no
	// limit.
	MaxDepth int
	// Links lists symlinks that are not followed as files of type TypeSymlink.
	Links bool
	// FollowLinks enters symlinks that lead to folders in the root.
	FollowLinks bool
	// OneFileSystem omits folders on another file system than Start.
	OneFileSystem bool
	// Workers is the number of goroutines; 0 means one per processor.
	Workers int
	// Batch is the maximum number of files in one Visit; 0 means 1,024. Larger folders are split,
	// so that several workers can share them.
	Batch int
	// MaxSkips limits the length of Report.Skipped; 0 means 1,000. The counts in Report remain
	// exact.
	MaxSkips int
	// Before, if set, is called with the path of each folder before it is opened. It is called on
	// any goroutine, and the folder is opened after it returns.
	Before func(shown string)
	// Denied, if set, is called for each file that would be listed without the policy. It returns
	// whether the file counts in Report.Denied; if Denied is nil, all count. It is called on any
	// goroutine.
	Denied func(shown, name string) bool
	// Protected, if set, is called with each folder that the policy protects, on any goroutine.
	Protected func(path string)
	// Waiting, if set, is called with true when Each starts to wait for a result and with false
	// when it stops waiting.
	Waiting func(bool)
}

// Visit is the visit of a folder, or of a part of a large folder.
type Visit struct {
	// Path is the folder's real path. Shown is the path at which the walk found it, "" for the
	// root. They differ below a followed symlink.
	Path  rootfs.Path
	Shown string
	// Dir is the open folder, for opening files by name. It is closed after the callback.
	Dir *rootfs.Dir
	// Files are the listed files. The slice and the names are valid only during the callback; clone
	// names that are kept. A followed symlink to a file has the type TypeSymlink; opening it
	// resolves its path.
	Files []rootfs.Entry
	// Dirs are the subfolders that will be entered. They are set only in a folder's first Visit.
	Dirs []rootfs.Entry
	// Excluded are the entries that the rules exclude, of the types that would be listed. They are
	// set like Dirs, and names are valid like those of Files.
	Excluded []rootfs.Entry
	// Parts is the number of visits that the folder has.
	Parts int
	// Worker is a number less than Options.Workers. Concurrent calls have different numbers, so it
	// can be used as the index of scratch space.
	Worker int
}

// Reason says why an entry was omitted.
type Reason uint8

const (
	Hidden     Reason = iota // the name begins with a dot
	Protected                // the policy denies it, or omits it from listings (.trash)
	Ignored                  // by an ignore file
	Filtered                 // by the globs or MaxDepth
	Symlink                  // a symlink that is not followed, or is dangling
	Special                  // a FIFO, socket or device
	Unreadable               // the system returned an error
	Vanished                 // deleted, or no longer a folder, when visited
	Loop                     // a symlink to a folder that contains it
	Outside                  // a symlink out of the root
	reasons
)

func (r Reason) String() string {
	return [...]string{"hidden", "protected", "ignored", "filtered", "symlink", "special", "unreadable", "vanished", "loop", "outside"}[r]
}

// Skip is an entry that was omitted although the options select it.
type Skip struct {
	Path   string // relative to the root
	Reason Reason // Unreadable, Vanished, Loop or Outside
	Err    error  // may be nil
	// Ignored is set if the rules exclude the entry or a folder above it.
	Ignored bool
}

// Report is the result of a walk.
type Report struct {
	Files, Dirs int          // visited
	Counts      [reasons]int // omitted entries, by Reason; a pruned folder counts once
	Skipped     []Skip       // in path order, at most MaxSkips
	// Denied is the number of files and folders that only the policy excluded, because a rule of
	// the owner denies them or because they are named like secrets. A folder counts as one.
	Denied int
	// Secrets lists some of the excluded entries that are named like secrets, in no particular
	// order.
	Secrets []string
	// Marked is the number of files found with Entry.Ignored set. If it exceeds MaxIgnored, not all
	// of them were listed.
	Marked int
}

// Count returns how many entries were omitted for a reason.
func (r *Report) Count(why Reason) int { return r.Counts[why] }

// Walk calls visit for the folders below opts.Start. It stops and returns the error if visit or ctx
// fails, or if Start can't be visited. Errors about entries below Start are only reported.
func Walk(ctx context.Context, root *rootfs.Root, opts *Options, visit func(*Visit) error) (Report, error) {
	return newWalker(root, opts, visit).run(ctx)
}

const (
	defaultBatch = 1024
	defaultSkips = 1000
	// The number of folders that are kept open because they have waiting subfolders. Opening a
	// subfolder from an open folder is faster than resolving its path. If more wait, their paths
	// are used.
	defaultHandles = 256
)

// walker is the state that all workers share.
type walker struct {
	opts    Options
	root    *rootfs.Root
	policy  *policy.Policy
	visit   func(*Visit) error
	ordered bool // visit folders in path order
	front   front
	// For Ordered and Each; both may be nil. announce is called with a folder's subfolders before
	// any of them is entered. missed is called if an announced folder, or some of its parts, can't
	// be visited.
	announce func(shown string, dirs []rootfs.Entry)
	missed   func(shown string, parts int)
	below    int          // length of the prefix of shown paths up to Start, including the slash
	handles  atomic.Int32 // open now
	marked   atomic.Int64 // ignored files found, if MaxIgnored is set
	keep     int32        // maximum number of handles kept open for waiting tasks

	workers []worker
	pending atomic.Int64 // tasks queued or running
	idle    atomic.Int32 // workers without a task
	stop    atomic.Bool
	// startOthers starts the other workers. It is called only when there is work for more than one,
	// because starting unused threads would add a fifth to the time of walking a small folder.
	startOthers func()
	wake        sync.Cond // signalled when an idle worker has a task to do, or when there are no tasks left

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
		panic(err) // a worker's panic, repeated on the caller's goroutine
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
