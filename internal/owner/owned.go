package owner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"quarry/internal/ignore"
	"quarry/internal/index"
	"quarry/internal/policy"
	"quarry/internal/rootfs"
	"quarry/internal/rootfs/mounts"
	"quarry/internal/walk"
	"quarry/internal/watch"
	"quarry/search"
)

// owned is the index of a root, in the process that owns it.
type owned struct {
	root    *rootfs.Root
	opts    Options
	log     *slog.Logger
	state   *rootfs.Root
	lease   *Lease
	program os.FileInfo // this program's executable when the process started; nil if unknown
	ix      *index.Index
	ready   atomic.Bool
	stored  bool          // an earlier owner has stored an index
	opened  chan struct{} // closed when the stored index is open or can't be used
	built   chan struct{} // closed after the first build
	reading reading
	failed  atomic.Pointer[error]
	server  *Server
	stop    context.CancelFunc
	done    sync.WaitGroup

	judge    *walk.Judge // decides which folders are watched
	outlying outlying    // the ignored folders that are watched
	// withIgnored is set if ignored folders are watched.
	withIgnored atomic.Bool
	rulesGen    atomic.Uint64 // counts changes of rules in the tree
	// watched is the folder in which the watcher was last started. It is used only by
	// start and Barrier, which don't run concurrently.
	watched rootfs.Place
	begun   bool // the watcher has reported changes; used only in Barrier

	recording recording

	watching chan watching // receives the watcher for start
	gate     *gate         // set while folders are being put under watch
	shut     *shut         // for a stored index opened for reading: the denied folders found by the last sweep

	mu      sync.Mutex
	watcher *watch.Watcher
}

// errOwned means that another process owns the index.
var errOwned = errors.New("another process owns the index")

// take makes this process the owner of the index. Until it is ready, searches scan.
func (m *Member) take() (*owned, error) {
	for tries := 0; ; tries++ {
		ctx, stop := context.WithCancel(context.Background())
		o, err := m.claim(ctx)
		if err == nil && m.opts.inPlace(o.state) {
			o.stop = stop
			o.recording.begin = func(to *Record) { o.record(ctx, to) }
			o.serve(ctx, m.answer)
			return o, nil
		}
		stop()
		if err == nil { // the folder was deleted in the meantime
			o.release()
			err = errEvicted
		}
		if errors.Is(err, errOwned) || tries == 3 {
			return nil, err
		}
	}
}

// claim takes the lease and opens the index. Cancelling ctx ends its goroutines.
func (m *Member) claim(ctx context.Context) (*owned, error) {
	state, err := m.opts.openDir()
	if err != nil {
		return nil, fmt.Errorf("open the index's folder: %w", err)
	}
	root, err := indexRoot(m.root)
	if err != nil {
		return nil, errors.Join(err, state.Close())
	}
	o := &owned{root: root, opts: m.opts, log: m.log, state: state, built: make(chan struct{}), opened: make(chan struct{}), watching: make(chan watching, 1)}
	if o.lease, err = Claim(state); err != nil || o.lease == nil {
		state.Close()
		root.Close()
		err = cmp.Or(err, errOwned)
		return nil, err
	}
	o.program, _ = os.Stat(m.opts.Program)
	if o.watched, err = root.Place(); err != nil {
		return nil, errors.Join(err, o.lease.Release(), state.Close(), root.Close())
	}
	walking := m.opts.walk()
	o.judge = walk.NewJudge(root, &walking)
	o.withIgnored.Store(true)
	// Folders are put under watch while the segments are checked, and the first sweep
	// follows folder by folder. On Linux 6.1 watching takes a quarter of a restart's
	// time.
	o.gate = newGate()
	walking.Before = o.gate.wait
	o.done.Go(func() {
		defer o.gate.raise()
		watcher, err := watch.Open(ctx, root, &watch.Options{Admit: o.admits, Listed: o.judge.Learn, Passed: o.gate.pass, MaxWatches: m.opts.MaxWatches, Marks: o.state})
		o.watching <- watching{watcher, err}
	})
	o.ix, err = index.Open(root, state, &index.Options{
		Walk: walking, MaxIgnored: m.opts.maxIgnored(), Frugal: m.opts.Frugal, Source: o, Fields: m.opts.Fields, Workers: m.opts.Workers, Progress: o.progress, Logger: m.log,
	})
	if err != nil {
		return nil, errors.Join(err, o.unwatch(), o.lease.Release(), state.Close(), root.Close())
	}
	o.stored = o.ix.Status().Documents > 0
	return o, nil
}

// indexRoot opens the folder of a root for the index. It applies the built-in policy, not
// the owner's, and shows the names of secret files, whose content the index never reads.
func indexRoot(root *rootfs.Root) (*rootfs.Root, error) {
	own, err := rootfs.Open(root.RealDir(), &rootfs.Options{
		Rules: policy.Rules{AllowSecrets: true}, AllowAny: true, ReadOnly: true, Layer: root.Layer(),
	})
	if err != nil {
		return nil, err
	}
	here, err := root.Place()
	if there, errThere := own.Place(); err != nil || errThere != nil || here != there {
		return nil, errors.Join(rootfs.ErrReplaced, err, errThere, own.Close())
	}
	return own, nil
}

// watching is the result of watch.Open.
type watching struct {
	watcher *watch.Watcher
	err     error
}

// unwatch waits for background work and closes the watcher, even if it is not in use yet.
func (o *owned) unwatch() error {
	o.done.Wait()
	o.mu.Lock()
	watcher := o.watcher
	o.mu.Unlock()
	if watcher == nil {
		select {
		case w := <-o.watching:
			watcher = w.watcher
		default:
		}
	}
	if watcher == nil {
		return nil
	}
	return watcher.Close()
}

// serve starts the owner's background goroutines.
func (o *owned) serve(ctx context.Context, answer Handler) {
	o.done.Go(func() { o.run(ctx) })
	if o.opts.Socket == "" {
		return
	}
	var err error
	if o.server, err = o.lease.Listen(o.opts.Socket, answer); err != nil {
		o.log.Warn("index: not shared with other processes", "err", err)
		return
	}
	o.done.Go(func() {
		if err := o.server.Serve(ctx); err != nil {
			o.log.Warn("index: stopped answering other processes", "err", err)
		}
	})
}

// run watches the tree, builds the index, and keeps it up to date until ctx ends.
func (o *owned) run(ctx context.Context) {
	err := o.start(ctx)
	o.open()
	if err != nil && ctx.Err() == nil {
		o.failed.Store(&err)
		o.log.Warn("index: not usable, searches scan", "err", err)
	}
	close(o.built)
	if err != nil {
		return
	}
	o.done.Go(func() { o.sweepNowAndThen(ctx) })
	o.evict()
	if err := o.ix.Maintain(ctx); err != nil && ctx.Err() == nil {
		o.log.Warn("index: no longer maintained", "err", err)
	}
}

// sweepEvery is the interval at which the whole tree is compared. This finds writes
// without an event: through a shared memory map, or under a hard link outside the root. A
// search during the comparison waits for it, 150 ms on Linux 6.1.
const sweepEvery = 15 * time.Minute

func (o *owned) sweepNowAndThen(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := o.ix.Sweep(ctx, rootfs.Path{}); err != nil && ctx.Err() == nil {
				o.log.Warn("index: sweep failed", "err", err)
			}
			o.changed(nil, []rootfs.Path{{}})
		}
	}
}

func (o *owned) start(ctx context.Context) error {
	snap, err := o.ix.Fresh(ctx) // sweeps through the gate
	if err != nil {
		return err
	}
	snap.Close()
	w := <-o.watching
	if w.err != nil {
		return w.err
	}
	o.mu.Lock()
	o.watcher = w.watcher
	o.mu.Unlock()
	if err := w.watcher.Swept(o.gate.waited); err != nil {
		return err
	}
	o.gate.remove()
	o.begun = true
	// If many files changed since the index was stored, they are read before it answers.
	// A few are read in the background.
	st := o.ix.Status()
	if st.Dirty > 1000+st.Documents/10 {
		o.open()
		o.reading.total.Store(int64(st.Dirty))
		if err := o.ix.Flush(ctx); err != nil {
			return err
		}
	}
	o.ready.Store(true)
	return nil
}

// open closes o.opened. It is called by run and start, never concurrently.
func (o *owned) open() {
	select {
	case <-o.opened:
	default:
		close(o.opened)
	}
}

// Barrier passes changes from the watcher to the index.
func (o *owned) Barrier(ctx context.Context, apply func(index.Changes)) ([]rootfs.Path, error) {
	o.mu.Lock()
	watcher := o.watcher
	o.mu.Unlock()
	moved, err := o.root.Follow()
	if err != nil {
		return nil, err
	}
	if watcher == nil { // not watching yet, so everything must be compared
		return []rootfs.Path{{}}, nil
	}
	if place, err := o.root.Place(); err != nil || moved || place != o.watched {
		o.log.Warn("index: the folder was replaced; comparing the one in its place")
		if err := watcher.Restart(ctx); err != nil {
			return nil, err
		}
		if o.watched, err = o.root.Place(); err != nil {
			return nil, err
		}
	}
	if err := o.followIgnored(ctx, watcher); err != nil {
		return nil, err
	}
	unwatched, err := watcher.Barrier(ctx, func(c *watch.Changes) {
		var out index.Changes
		out.Trees = c.Trees
		// Rules in a reported tree may have changed, because there are no events for its
		// files. The first report is the root, whose rules have not been read yet.
		if o.begun && len(c.Trees) > 0 {
			o.judge.Forget()
			o.rulesGen.Add(1)
			for _, dir := range c.Trees {
				c.Rescan(dir)
			}
		}
		o.begun = true
		for _, f := range c.Files {
			out.Files = append(out.Files, f.Path)
			if dir, is := rulesFor(f.Path); is {
				o.judge.Forget()
				o.rulesGen.Add(1)
				c.Rescan(dir)
				out.Trees = append(out.Trees, dir)
			}
		}
		// A name that was created, written to and deleted may have been a hard link to
		// any file.
		out.Stamps = c.Passed
		apply(out)
		o.changed(out.Files, out.Trees)
	})
	if r := o.recording.rec.Load(); r != nil {
		r.Also(texts(unwatched))
	}
	if len(unwatched) > 0 { // rules in these folders may have changed without an event
		o.rulesGen.Add(1)
	}
	if o.outlying.tooMany() || len(unwatched) > 0 && (unwatched[0].IsRoot() || errors.Is(watcher.Status().Reason, watch.ErrLimit)) {
		o.ix.DropIgnored() // otherwise they would be compared each time and use up watches
	}
	return unwatched, err
}

// closed lists the folders that the built-in policy excludes from the index.
func (o *owned) closed() (dirs []string, all bool) {
	if o.shut != nil {
		return o.shut.list(), true
	}
	o.mu.Lock()
	watcher := o.watcher
	o.mu.Unlock()
	if watcher == nil {
		return nil, false
	}
	return watcher.Protected()
}

// rulesFor returns the folder to which the rule file p applies; is reports whether p is
// one. .git counts as a rule file, because creating or deleting it changes the scope of
// rules.
func rulesFor(p rootfs.Path) (dir rootfs.Path, is bool) {
	if _, is := ignore.FileKind(p.Base()); is || p.Base() == ".git" {
		return p.Dir(), true
	}
	if s := p.String(); s == excludeFile || strings.HasSuffix(s, "/"+excludeFile) {
		return rootfs.Path{}, true // the repository's worktrees may be anywhere
	}
	return rootfs.Path{}, false
}

const excludeFile = ".git/info/exclude"

func (o *owned) close() error {
	o.stop()
	o.done.Wait()
	o.markUsed()
	return o.release()
}

// release closes the index after stop.
func (o *owned) release() error {
	return errors.Join(o.unwatch(), o.ix.Close(), o.lease.Release(), o.state.Close(), o.root.Close())
}

func (o *owned) status() *search.IndexStatus {
	st := o.ix.Status()
	out := &search.IndexStatus{
		State: "indexing", PID: os.Getpid(), Version: o.opts.Version, Dir: o.opts.Dir, Ignored: o.ix.Ignored(),
		Files: st.Documents, TextBytes: st.Text, DiskBytes: st.Bytes, Pending: st.Dirty,
		Freshness: "sweep", Updated: st.SweptAt, Sweeps: st.Sweeps, Restamps: st.Restamps, Overlay: mounts.IsOverlay(o.root.Dir()),
	}
	o.mu.Lock()
	watcher := o.watcher
	o.mu.Unlock()
	if watcher != nil {
		ws := watcher.Status()
		out.Watches, out.Unwatched = ws.Watches, ws.Unwatched
		if ws.Unwatched == 0 {
			out.Freshness = "event"
		}
	}
	if err := o.failed.Load(); err != nil {
		out.State, out.Error = "failed", (*err).Error()
	} else if o.ready.Load() {
		out.State = "ready"
	} else {
		out.Building = o.reading.now()
	}
	if o.program != nil {
		now, err := os.Stat(o.opts.Program)
		out.ProgramReplaced = err != nil || !os.SameFile(now, o.program) || !now.ModTime().Equal(o.program.ModTime())
	}
	o.opts.usage(out)
	return out
}
