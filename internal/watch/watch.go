// Package watch reports which paths below a root may have changed.
//
// The invariant: consider a create, write, truncate, rename, delete or attribute change
// below the root, on a local Linux file system, whose system call returned before
// [Watcher.Barrier] was called. When Barrier returns, an apply function of this or
// another Barrier call has processed the change. A change is passed as a path, as a tree
// that contains it, or by naming an unwatched part of the root in Barrier's result.
// Reports may include more than the actual changes, but never less.
//
// This works because inotify queues an event during the system call that makes the
// change. Reading the queue up to its length at the time of the call is a complete
// barrier, without timers. Folders are identified by watch descriptor, which belongs to
// the inode and not the name, so a folder keeps its watch when it or a parent is renamed.
//
// Mounting makes no event, but the kernel reports a changed mount table on request. Every
// barrier requests it, and reports the folders below the root where something was mounted
// or unmounted. A file that is mounted over is reported by every barrier, since writes
// through its other name make events in another folder.
//
// A store through a shared memory map makes no event until its file is closed and unmapped.
// A file with several names is reported by the name that was used, so callers compare such
// files before each answer. That name may be gone by then, or belong to another file.
// [Changes].Passed reports such writes if they make events. These make none: writes by a
// name in a folder that is new or not watched, stores through a memory map of a deleted
// name, and writes through a handle whose name now belongs to another file.
package watch

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"quarry/fault"
	"quarry/internal/policy"
	"quarry/internal/rootfs"
)

// Options select the watched part of a root. The zero value selects every folder that the
// root's policy allows.
type Options struct {
	// Admit decides whether the folder called name in dir is watched; nil admits all. It is called with the
	// watcher's lock held, so it must not call the watcher. When its answers change, ask for a rescan.
	Admit func(dir rootfs.Path, name string) bool
	// Listed, if set, is called with the listing of each watched folder before
	// Admit is asked about its entries, with the watcher's lock held.
	Listed func(dir *rootfs.Dir, entries []rootfs.Entry)
	// Passed, if set, is called during Open with each folder once it is watched, "" for the
	// root, in path order, with the watcher's lock held. The caller may then sweep that
	// folder while others are not watched yet, and calls Swept before the first barrier.
	Passed func(dir string)
	// MaxWatches limits the kernel watches in use; 0 means only the system's limit.
	// Folders beyond the limit are reported as unwatched.
	MaxWatches int
	// Marks is a trusted folder of our own. Where events are delayed (macOS), marker files
	// are made in it: the event of a marker proves that earlier events have arrived.
	Marks *rootfs.Root
	// MaxPending limits the changed paths kept between two barriers; 0 means 16,384.
	// Beyond it, whole folders are reported.
	MaxPending int

	idle bool // for tests: no reading between barriers
}

// Op is a set of events on a path.
type Op uint16

const (
	Created Op = 1 << iota // the name appeared, or replaced another
	Written                // content or size
	Closed                 // closed by a writer, who may have changed it through a memory map
	Changed                // permissions, owner, times, extended attributes, number of links
	Removed                // the name is gone, or was gone for a moment
)

// File is a path whose file may have changed, appeared or gone. Symlinks and special files count as files
// here; folders that are not admitted are reported in the same way.
type File struct {
	Path rootfs.Path
	Op   Op
}

// Changes are the events since the last report, each path once, in path order.
type Changes struct {
	Files []File
	// Trees are folders that appeared, disappeared, or may differ in any way below: list them
	// again and compare. None is inside another. Files has no files inside them, but it may
	// have one at the path of a tree, since a file may have replaced a folder. The first
	// Changes of a Watcher name the root.
	Trees []rootfs.Path
	// Lost reports that events were lost and Trees therefore names the root.
	Lost bool
	// Passed reports that a file was written but can no longer be identified: its name
	// appeared, was written to and was removed between two barriers, or the name of the
	// handle used is gone. Usually it was a temporary file, possibly one with another name
	// below the root. A caller that needs such files compares the stamps of all files
	// before it looks at Trees. From then on it checks those that differed before each
	// answer: the next write through such a handle may not be reported.
	Passed bool

	inTrees []File // the files that changed in Trees
	rescan  []rootfs.Path
}

// Rescan requests, from within an apply function, that Admit be called again for every
// folder below dir before the barrier returns: newly admitted folders are watched and
// reported to a further call of apply.
func (c *Changes) Rescan(dir rootfs.Path) { c.rescan = append(c.rescan, dir) }

// Status describes a Watcher for people and receipts.
type Status struct {
	Watches   int    // kernel watches in use
	Unwatched int    // trees to be swept before each answer
	Events    uint64 // events read so far
	Lost      uint64 // how many times the kernel's queue overflowed
	// Reason tells why a tree is unwatched; nil if none is.
	Reason error
}

// ErrClosed is returned by the calls of a closed Watcher.
var ErrClosed = errors.New("watcher is closed")

// Reasons why a tree is not watched.
var (
	ErrLimit   = errors.New("out of watches")
	ErrForeign = errors.New("a network or unknown file system: its events can't be trusted")
	ErrTwice   = errors.New("the folder is mounted in two places")
)

// Watcher watches the folders below a root. It is safe for concurrent use.
type Watcher struct {
	root *rootfs.Root
	opts Options
	wake chan struct{}

	mu        sync.Mutex // guards everything below, and the order of apply calls
	closed    bool
	pending   pending
	told      map[rootfs.Path]bool // names already reported by nameless
	protected map[string]bool      // the folders returned by Protected
	system    system
}

// Open starts to watch the folders below root. It returns when all existing ones are watched
// or known to be unwatched; it fails only if ctx ends. The caller keeps root open until after
// Close.
func Open(ctx context.Context, root *rootfs.Root, opts *Options) (*Watcher, error) {
	w := &Watcher{root: root, wake: make(chan struct{}, 1), told: map[rootfs.Path]bool{}, protected: map[string]bool{}}
	if opts != nil {
		w.opts = *opts
	}
	if w.opts.MaxPending <= 0 {
		w.opts.MaxPending = 16 << 10
	}
	for _, name := range append(policy.ProtectedNames(), ".trash") {
		w.noteProtected(nil, name) // also on systems where nothing is watched
	}
	w.pending.init(w.opts.MaxPending)
	w.pending.all()
	if err := w.start(ctx); err != nil {
		w.stop()
		return nil, err
	}
	return w, nil
}

// Barrier hands every change whose system call returned before the call to apply, and returns the trees below
// the root that are not watched: before relying on its knowledge of them, the caller sweeps them.
//
// apply is called until there are no new changes, usually once or not at all. Calls never overlap. The
// watcher's lock is held, so apply must not call the watcher. So when Barrier returns, all earlier changes
// are applied, no matter to which of several concurrent callers they were handed. After an error, changes
// that were not handed over are kept for the next barrier.
//
// The result is shared and must not be modified. A barrier with nothing to report makes
// two system calls.
func (w *Watcher) Barrier(ctx context.Context, apply func(*Changes)) ([]rootfs.Path, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, ErrClosed
	}
	if err := w.remounted(ctx); err != nil {
		return nil, err
	}
	if err := w.drain(ctx); err != nil {
		return nil, err
	}
	w.endRenames()
	for !w.pending.empty() {
		if err := w.hand(ctx, apply); err != nil {
			return nil, err
		}
	}
	return w.unwatched(), nil
}

// hand passes the pending changes to apply. If apply panics, everything counts as pending,
// so that no change is lost.
func (w *Watcher) hand(ctx context.Context, apply func(*Changes)) error {
	c := w.take()
	c.Passed = w.nameless(&c) || c.Passed
	applied := false
	defer func() {
		if !applied {
			w.pending.all()
		}
	}()
	apply(&c)
	applied = true
	for _, dir := range c.rescan {
		w.rescan(dir)
	}
	return w.settle(ctx)
}

// nameless reports whether a file was written to through a handle after its name was removed. A name is
// reported once, until it exists again: a deleted log that its program keeps writing must not slow down every
// answer. Changes reported together with trees are an exception, since a comparison of trees can't tell which
// file had no event of its own.
func (w *Watcher) nameless(c *Changes) (found bool) {
	for _, files := range [...][]File{c.Files, c.inTrees} {
		for _, f := range files {
			switch {
			case f.Op&(Created|Removed) != 0:
				delete(w.told, f.Path)
			case f.Op&touched != 0 && !w.told[f.Path]:
				if _, err := w.root.Stat(f.Path); rootfs.KindOf(err) != fault.NotFound {
					continue
				}
				found = true
				if len(c.Trees) == 0 {
					w.told[f.Path] = true
				}
			}
		}
	}
	if len(w.told) > maxTold {
		clear(w.told)
	}
	return found
}

// maxTold limits the names remembered for nameless.
const maxTold = 1024

// take empties the pending set.
func (w *Watcher) take() Changes {
	w.unmark()
	return w.pending.take(w.path)
}

// Rescan asks Admit again about every folder below dir, and retries the folders that could not be watched.
// Folders that it adds are reported by the next barrier.
func (w *Watcher) Rescan(ctx context.Context, dir rootfs.Path) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return ErrClosed
	}
	w.rescan(dir)
	return w.settle(ctx)
}

// Swept is used with Options.Passed: swept reports which folders were swept. The next
// barrier then reports only the watched folders that were not, instead of the root.
func (w *Watcher) Swept(swept func(dir string) bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return ErrClosed
	}
	return w.swept(swept)
}

// Restart is for a root whose folder was replaced (rootfs.Root.Follow): it watches the new folder, and the
// next barrier reports the root.
func (w *Watcher) Restart(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return ErrClosed
	}
	w.pending.all()
	return w.restarted(ctx)
}

// maxProtected limits the number of folders that Protected returns.
const maxProtected = 4096

// Protected lists folders in watched folders that the root's policy protects, for clients
// that may see more than the policy allows. Some may no longer exist. all is false if there
// were too many to record.
func (w *Watcher) Protected() (dirs []string, all bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for dir := range w.protected {
		dirs = append(dirs, dir)
	}
	return dirs, len(w.protected) < maxProtected
}

// noteProtected records a folder that the policy protects. The caller holds w.mu.
func (w *Watcher) noteProtected(dir []byte, name string) {
	if v := w.root.Policy().Name(name); v != policy.Protected && v != policy.Unlisted || len(w.protected) >= maxProtected {
		return
	}
	if rootfs.IsTemp(name) {
		return
	}
	w.protected[string(dir)+name] = true
}

// Pending returns a channel that receives a value after changes were noticed between barriers, for callers
// that prepare the next answer early. It is a hint: only a barrier tells which files changed.
func (w *Watcher) Pending() <-chan struct{} { return w.wake }

// wakeUp notifies Pending's reader.
func (w *Watcher) wakeUp() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *Watcher) Status() Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.status()
}

// Close stops watching and waits for the background goroutine. Closing twice is
// harmless.
func (w *Watcher) Close() error {
	w.mu.Lock()
	was := w.closed
	w.closed = true
	w.mu.Unlock()
	if was {
		return nil
	}
	return w.stop()
}

// path converts a string built from the kernel's names to a Path. Protected paths are
// converted too, although Known refuses them: the appearance of .git changes the ignore
// rules.
func (w *Watcher) path(s string) rootfs.Path {
	if s == "" {
		return rootfs.Path{}
	}
	if p, err := w.root.Known(s); err == nil {
		return p
	}
	var p rootfs.Path
	for name := range strings.SplitSeq(s, "/") {
		next, err := p.Child(name)
		if err != nil {
			return p // not a valid name: report the folder
		}
		p = next
	}
	return p
}

// comparePaths sorts a folder directly before its contents, so that the paths inside a
// tree follow the tree.
func comparePaths(a, b rootfs.Path) int {
	x, y := a.String(), b.String()
	n := min(len(x), len(y))
	for i := range n {
		if x[i] == y[i] {
			continue
		}
		switch {
		case x[i] == '/':
			return -1
		case y[i] == '/':
			return 1
		}
		return int(x[i]) - int(y[i])
	}
	return len(x) - len(y)
}

// outermost sorts trees and drops those inside another.
func outermost(trees []rootfs.Path) []rootfs.Path {
	slices.SortFunc(trees, comparePaths)
	kept := trees[:0]
	for _, t := range trees {
		if len(kept) > 0 && t.Beneath(kept[len(kept)-1]) {
			continue
		}
		kept = append(kept, t)
	}
	return kept
}
