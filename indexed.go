package quarry

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"quarry/internal/ignore"
	"quarry/internal/index"
	"quarry/internal/owner"
	"quarry/internal/rootfs"
	"quarry/internal/walk"
	"quarry/internal/watch"
)

// IndexOptions say where the index of a workspace lives and who keeps it.
type IndexOptions struct {
	// Dir is the folder of this index, private to its user and outside the
	// workspace. Workspaces that see different files of the same folder (other
	// policy, other rules) need folders of their own.
	Dir string
	// Socket is where the process that keeps the index answers others; ""
	// shares with nobody.
	Socket string
	// Home is the folder in which the indexes of all workspaces lie, Dir among
	// them. With it, Dir is made when it is missing, and the indexes used
	// longest ago are deleted when all together have more than MaxBytes; those
	// that a process keeps stay.
	Home string
	// MaxBytes bounds all indexes in Home together; 0 is 10 GB.
	MaxBytes int64
	// Ask only uses an index that another process keeps. It is for short-lived
	// programs: without one, they scan.
	Ask bool
	// MaxWatches bounds the folders watched; 0 leaves it to the system.
	MaxWatches int
	// Progress hears how a build goes, from any goroutine.
	Progress func(Progress)
}

// keeper is the index of a workspace in the process that owns it.
type keeper struct {
	ws      *Workspace
	opts    IndexOptions
	state   *rootfs.Root
	lease   *owner.Lease
	ix      *index.Index
	ready   atomic.Bool
	built   chan struct{} // closed when the first build is over
	reading reading
	failed  atomic.Pointer[error]
	server  *owner.Server
	stop    context.CancelFunc
	done    sync.WaitGroup

	judge *walk.Judge // decides which folders are watched
	begun bool        // the watcher has told something; only Barrier's apply uses it

	watching chan watching // what start takes

	mu      sync.Mutex
	watcher *watch.Watcher
}

// errOwned says that another process keeps the index.
var errOwned = errors.New("another process keeps the index")

// keepIndex makes this process the owner of the workspace's index. Searches
// scan until it is ready.
func (w *Workspace) keepIndex(opts IndexOptions) (*keeper, error) {
	for tries := 0; ; tries++ {
		ctx, stop := context.WithCancel(context.Background())
		k, err := w.claimIndex(ctx, opts)
		if err == nil && opts.inPlace(k.state) {
			k.stop = stop
			k.serve(ctx)
			return k, nil
		}
		stop()
		if err == nil { // the folder was deleted while we took it
			k.release()
			err = errEvicted
		}
		if errors.Is(err, errOwned) || tries == 3 {
			return nil, err
		}
	}
}

// claimIndex takes and opens the index. What it starts ends with ctx.
func (w *Workspace) claimIndex(ctx context.Context, opts IndexOptions) (*keeper, error) {
	state, err := opts.openDir()
	if err != nil {
		return nil, fmt.Errorf("open the index's folder: %w", err)
	}
	k := &keeper{ws: w, opts: opts, state: state, built: make(chan struct{}), watching: make(chan watching, 1)}
	if k.lease, err = owner.Claim(state); err != nil || k.lease == nil {
		state.Close()
		if err == nil {
			err = errOwned
		}
		return nil, err
	}
	walking := w.indexWalk()
	k.judge = walk.NewJudge(w.root, &walking)
	// Watching begins while the segments are checked: on Linux 6.1 that takes a
	// quarter of the time of a restart.
	k.done.Go(func() {
		watcher, err := watch.Open(ctx, w.root, &watch.Options{Admit: k.judge.Enters, MaxWatches: opts.MaxWatches})
		k.watching <- watching{watcher, err}
	})
	k.ix, err = index.Open(w.root, state, &index.Options{
		Walk: walking, Source: k, Workers: w.workers, Progress: k.progress, Logger: w.log,
	})
	if err != nil {
		return nil, errors.Join(err, k.unwatch(), k.lease.Release(), state.Close())
	}
	return k, nil
}

// watching is what watch.Open gives.
type watching struct {
	watcher *watch.Watcher
	err     error
}

// unwatch ends the watcher, also one that nobody has taken. It waits for what
// runs in the background.
func (k *keeper) unwatch() error {
	k.done.Wait()
	k.mu.Lock()
	watcher := k.watcher
	k.mu.Unlock()
	if watcher == nil {
		select {
		case w := <-k.watching:
			watcher = w.watcher
		default:
		}
	}
	if watcher == nil {
		return nil
	}
	return watcher.Close()
}

// serve starts what the owner does in the background.
func (k *keeper) serve(ctx context.Context) {
	w := k.ws
	k.done.Go(func() { k.run(ctx) })
	if k.opts.Socket == "" {
		return
	}
	var err error
	if k.server, err = k.lease.Listen(k.opts.Socket, w.answer); err != nil {
		w.log.Warn("index: not shared with other processes", "err", err)
		return
	}
	k.done.Go(func() {
		if err := k.server.Serve(ctx); err != nil {
			w.log.Warn("index: stopped answering other processes", "err", err)
		}
	})
}

// run watches, builds, and then keeps the index up to date until ctx ends.
func (k *keeper) run(ctx context.Context) {
	err := k.start(ctx)
	if err != nil && ctx.Err() == nil {
		k.failed.Store(&err)
		k.ws.log.Warn("index: not usable, searches scan", "err", err)
	}
	if err == nil {
		k.ready.Store(true)
	}
	close(k.built)
	if err != nil {
		return
	}
	k.done.Go(func() { k.sweepNowAndThen(ctx) })
	k.evict()
	if err := k.ix.Maintain(ctx); err != nil && ctx.Err() == nil {
		k.ws.log.Warn("index: no longer maintained", "err", err)
	}
}

// sweepEvery is how often the whole tree is compared, for what makes no event:
// stores through a shared memory map, writes through a name outside the root. A
// search that comes meanwhile waits for it, 150 ms on Linux 6.1.
const sweepEvery = 15 * time.Minute

func (k *keeper) sweepNowAndThen(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := k.ix.Sweep(ctx, rootfs.Path{}); err != nil && ctx.Err() == nil {
				k.ws.log.Warn("index: sweep failed", "err", err)
			}
		}
	}
}

func (k *keeper) start(ctx context.Context) error {
	w := <-k.watching
	if w.err != nil {
		return w.err
	}
	k.mu.Lock()
	k.watcher = w.watcher
	k.mu.Unlock()
	snap, err := k.ix.Fresh(ctx)
	if err != nil {
		return err
	}
	snap.Close()
	// With few changes since the last time, searches can begin now and the
	// rest is read on the side.
	if st := k.ix.Status(); st.Dirty > 1000+st.Documents/10 {
		k.reading.total.Store(int64(st.Dirty))
		return k.ix.Flush(ctx)
	}
	return nil
}

// Barrier hands changes from the watcher to the index.
func (k *keeper) Barrier(ctx context.Context, apply func(index.Changes)) ([]rootfs.Path, error) {
	k.mu.Lock()
	watcher := k.watcher
	k.mu.Unlock()
	if watcher == nil { // before watching began: everything has to be compared
		return []rootfs.Path{{}}, nil
	}
	return watcher.Barrier(ctx, func(c *watch.Changes) {
		var out index.Changes
		out.Trees = c.Trees
		// A tree may have other rules than before: of the files in it nothing is
		// told by itself. The first one is the root, whose rules nobody has read.
		if k.begun && len(c.Trees) > 0 {
			k.judge.Forget()
			for _, dir := range c.Trees {
				c.Rescan(dir)
			}
		}
		k.begun = true
		for _, f := range c.Files {
			out.Files = append(out.Files, f.Path)
			if dir, is := rulesFor(f.Path); is {
				k.judge.Forget()
				c.Rescan(dir)
				out.Trees = append(out.Trees, dir)
			}
		}
		// A name that came, was written to and went may have been a second name
		// of any file.
		out.Stamps = c.Passed
		apply(out)
	})
}

// rulesFor tells for which folder a file holds ignore rules, if it does. A .git
// that comes or goes begins or ends a repository, whose rules stand alone.
func rulesFor(p rootfs.Path) (dir rootfs.Path, is bool) {
	if _, is := ignore.FileKind(p.Base()); is || p.Base() == ".git" {
		return p.Dir(), true
	}
	if s := p.String(); s == excludeFile || strings.HasSuffix(s, "/"+excludeFile) {
		return p.Dir().Dir().Dir(), true
	}
	return rootfs.Path{}, false
}

const excludeFile = ".git/info/exclude"

// indexWalk is the walk that decides what belongs to the index: what a search
// sees, and hidden files, but never a repository's own folder.
func (w *Workspace) indexWalk() walk.Options {
	rules := append(slices.Clone(w.rules), ignore.Set{Kind: ignore.Extra, Rules: ignore.Parse("index", []byte(".git\n"))})
	return walk.Options{Rules: rules, Hidden: true, Workers: w.workers}
}

func (k *keeper) close() error {
	k.stop()
	k.done.Wait()
	k.markUsed()
	return k.release()
}

// release gives the index up; stop was called.
func (k *keeper) release() error {
	return errors.Join(k.unwatch(), k.ix.Close(), k.lease.Release(), k.state.Close())
}

// IndexStatus tells how the index is doing. Without a process that keeps it the
// state is not_found; DiskBytes then tells what an earlier one has left.
func (w *Workspace) IndexStatus(ctx context.Context) (*IndexStatus, error) {
	if k := w.keeper.Load(); k != nil {
		return k.status(), nil
	}
	if st, err := w.askStatus(ctx); err == nil {
		return st, nil
	}
	st := &IndexStatus{State: "not_found"}
	if w.indexOpts != nil {
		st.Dir = w.indexOpts.Dir
		w.indexOpts.usage(st)
	}
	return st, nil
}

func (k *keeper) status() *IndexStatus {
	st := k.ix.Status()
	out := &IndexStatus{
		State: "indexing", PID: os.Getpid(), Dir: k.opts.Dir,
		Files: st.Documents, TextBytes: st.Text, DiskBytes: st.Bytes, Pending: st.Dirty,
		Freshness: "sweep", Updated: st.SweptAt, Sweeps: st.Sweeps, Restamps: st.Restamps,
	}
	k.mu.Lock()
	watcher := k.watcher
	k.mu.Unlock()
	if watcher != nil {
		ws := watcher.Status()
		out.Watches, out.Unwatched = ws.Watches, ws.Unwatched
		if ws.Unwatched == 0 {
			out.Freshness = "event"
		}
	}
	if err := k.failed.Load(); err != nil {
		out.State, out.Error = "failed", (*err).Error()
	} else if k.ready.Load() {
		out.State = "ready"
	} else {
		out.Building = k.reading.now()
	}
	k.opts.usage(out)
	return out
}

// IndexIdle is how long no other process has asked anything.
func (w *Workspace) IndexIdle() time.Duration {
	k := w.keeper.Load()
	if k == nil || k.server == nil {
		return 0
	}
	return k.server.Idle()
}
