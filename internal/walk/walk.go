// Package walk lists the files below a folder, in parallel.
//
// Every folder that can be read is visited once; ignored, hidden, protected and
// filtered ones are pruned before they are opened. Nothing below a folder stops
// the rest: what can't be read, loops or vanishes is reported and counted, never
// silently missing. Walk calls back in no order and from several goroutines;
// Ordered calls back in path order from one.
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

// Options say what a walk leaves out. The zero value walks the whole root as a
// search does by default.
type Options struct {
	// Start is the folder to walk. A folder that is named is walked even if it
	// is ignored or hidden.
	Start rootfs.Path
	// Hidden includes entries whose name starts with a dot. Without it they are
	// listed only if a negated rule (!.github) includes them, as in ripgrep, and
	// with StrictHidden never.
	Hidden, StrictHidden bool
	// NoVCS leaves .gitignore and info/exclude files unread, NoDot .ignore,
	// .rgignore and .rooignore, NoParents those of the folders between the
	// root and Start. NoIgnore is all of them and drops Rules as well.
	NoIgnore, NoVCS, NoDot, NoParents bool
	// NoExclude leaves info/exclude files unread.
	NoExclude bool
	// Fd reads .fdignore instead of .rgignore and .rooignore.
	Fd bool
	// RequireGit leaves .gitignore files unread that are in no git repository. The
	// caller leaves git's own rules out of Rules; GitRules apply in each repository.
	RequireGit bool
	GitRules   []ignore.Set
	// Rules apply at the root besides the files found: the global excludes, a
	// repository around the root. The caller applies the switches above to them.
	Rules []ignore.Set
	// MaxIgnored also lists files that the rules exclude, with Entry.Ignored set,
	// up to this many. If there are more, only some are listed, and Report.Marked
	// is larger. 0 lists none.
	MaxIgnored int
	// Filter narrows by globs on the path below Start. Folders in which no file
	// could pass are not entered.
	Filter *glob.Filter
	// MaxDepth bounds how deep files may lie below Start: 1 is its own files
	// only. 0 is no bound.
	MaxDepth int
	// Links lists symlinks as files of type TypeSymlink, if they are not followed.
	Links bool
	// FollowLinks enters symlinks that lead to places in the root.
	FollowLinks bool
	// OneFileSystem skips folders on a file system other than that of Start.
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
	// Denied, if set, is asked about each file that would be listed if the policy
	// didn't deny it, from any goroutine: whether it counts in Report.Denied. nil
	// counts all.
	Denied func(shown, name string) bool
	// Protected, if set, is called with each folder that the policy closes,
	// from any goroutine.
	Protected func(path string)
	// Waiting, if set, is called when Each begins and when it ends waiting for
	// a result.
	Waiting func(bool)
}

// Visit is one folder, or a part of a large one.
type Visit struct {
	// Path is where the folder really is, Shown where the walk found it; they
	// differ below a followed symlink. Shown is "" for the root.
	Path  rootfs.Path
	Shown string
	// Dir is open until the callback returns, so files can be opened by name.
	Dir *rootfs.Dir
	// Files passed all rules. They and their names are valid until the callback
	// returns; clone what lives longer. A followed symlink to a file has type
	// TypeSymlink and opens by resolving its path.
	Files []rootfs.Entry
	// Dirs are the folders that will be entered, in the folder's first Visit.
	Dirs []rootfs.Entry
	// Parts is how many visits make up the folder.
	Parts int
	// Worker is a number below Options.Workers; no two calls with the same
	// number run at once, so it can index scratch space.
	Worker int
}

// Reason is why an entry was left out.
type Reason uint8

const (
	Hidden     Reason = iota // a dot entry
	Protected                // the policy denies it, or shows it in no listing (.trash)
	Ignored                  // by an ignore file
	Filtered                 // by the globs, or deeper than MaxDepth
	Symlink                  // not followed, or leading nowhere
	Special                  // a FIFO, socket or device
	Unreadable               // the system refused, or it is broken
	Vanished                 // gone, or not a folder any more, when it was to be visited
	Loop                     // a symlink to a folder it lies in
	Outside                  // a symlink out of the root
	reasons
)

func (r Reason) String() string {
	return [...]string{"hidden", "protected", "ignored", "filtered", "symlink", "special", "unreadable", "vanished", "loop", "outside"}[r]
}

// Skip is an entry that was omitted although nobody asked for that.
type Skip struct {
	Path   string // relative to the root
	Reason Reason // Unreadable, Vanished, Loop or Outside
	Err    error  // may be nil
	// Ignored says that it lies in what the rules exclude.
	Ignored bool
}

// Report counts what a walk did.
type Report struct {
	Files, Dirs int          // visited
	Counts      [reasons]int // entries left out, by Reason; a pruned folder counts once
	Skipped     []Skip       // in path order, at most MaxSkips
	// Denied counts the files and folders that would have been listed or entered
	// without the policy: those denied by a rule of the owner, and those with
	// the name of a secret. A folder counts once.
	Denied int
	// Secrets are some of the latter, in no order.
	Secrets []string
	// Marked counts the files that were met with Entry.Ignored set; with more
	// than MaxIgnored not all of them were visited.
	Marked int
}

// Count returns how many entries were left out for a reason.
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
	// Handles of folders whose subfolders still wait are kept open, because
	// opening a subfolder from them is faster than resolving its path again.
	// Beyond this number, paths are used.
	defaultHandles = 256
)

// walker is the state all workers share.
type walker struct {
	opts    Options
	root    *rootfs.Root
	policy  *policy.Policy
	visit   func(*Visit) error
	ordered bool // visit folders in path order
	front   front
	// For Ordered; may be nil. announce is called with the folders that will be
	// entered before any of them is entered; missed with those, or parts of them,
	// that could not be.
	announce func(shown string, dirs []rootfs.Entry)
	missed   func(shown string, parts int)
	below    int          // bytes of a shown path that lead to Start, with the slash
	handles  atomic.Int32 // open now
	marked   atomic.Int64 // ignored files met, with MaxIgnored
	keep     int32        // how many may wait

	workers []worker
	pending atomic.Int64 // tasks queued or running
	idle    atomic.Int32 // workers that found nothing to do
	stop    atomic.Bool
	// startOthers is called when there is work for more than one worker. To start a
	// thread for nothing would cost a walk of a small folder a fifth of its time.
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

// halt makes all workers stop after what they are doing.
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
