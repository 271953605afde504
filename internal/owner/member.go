package owner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"quarry/internal/crew"
	"quarry/internal/index"
	"quarry/internal/rootfs"
	"quarry/internal/rootfs/mounts"
	"quarry/internal/walk"
	"quarry/search"
)

// Options determine where the index of a root is, who may own it and which files it has.
type Options struct {
	// Dir is the folder of this index. It is private to its user and outside the root.
	// All clients of a root use the same index, whatever their policies and rules are.
	Dir string
	// Socket is where the owner serves other processes; if it is "", the index is not
	// shared.
	Socket string
	// Home is the folder with the indexes of all roots, including Dir. If it is set, a
	// missing Dir is created. If all indexes together exceed MaxBytes, the least recently
	// used ones that no process owns are deleted.
	Home string
	// MaxBytes limits the total size of the indexes in Home; 0 means 10 GB.
	MaxBytes int64
	// Ask makes this process only a client: it uses an index that another process owns,
	// and otherwise scans. It is meant for short-lived programs.
	Ask bool
	// MaxWatches limits the number of watched folders; 0 means only the system's limit.
	MaxWatches int
	// MaxIgnored is the largest number of ignored files in the index; 0 means 20,000.
	MaxIgnored int
	// Frugal allows a build to change the garbage collector's settings for this process.
	Frugal bool
	// Progress is called with the progress of a build, on any goroutine.
	Progress func(search.Progress)
	// Version and Program are the version and the executable of this process, for the
	// status.
	Version, Program string

	// Record, if set, makes the owner record the changes of other programs, whichever
	// process is the owner.
	Record *Record

	View View // the view of this process, through which the owner answers it

	// Fields extracts from texts the values stored in the index; nil means none.
	Fields *index.Extractor

	Workers int          // 0 means one for each processor
	Logger  *slog.Logger // nil means no logging
}

// walk returns the options that determine which files are indexed: those that a search
// with the tree's rules finds, and hidden files. The index's root already hides files
// that the built-in policy protects, such as .git.
func (o *Options) walk() walk.Options { return walk.Options{Hidden: true, Workers: o.Workers} }

// Member is a process's access to the index of a root: it either owns the index, or asks
// the owner. When the owner ends, another process becomes the owner, unless Options.Ask
// forbids that. A nil Member has no index.
type Member struct {
	root     *rootfs.Root
	opts     Options
	log      *slog.Logger
	requests chan *Request

	mounts   *mounts.Mounts
	view     atomic.Pointer[View]  // this process's view
	owned    atomic.Pointer[owned] // set if this process is the owner
	lent     atomic.Pointer[owned] // a stored index opened for reading; see lend
	silent   silence               // an owner that does not respond
	takeOver sync.Mutex            // one attempt at a time
	closed   bool                  // guarded by takeOver

	stopRecording context.CancelFunc // nil if this process does not record
	recordingEnds crew.Group
}

// New returns a Member that has no index before Join.
func New(root *rootfs.Root, opts Options) *Member {
	if opts.Workers <= 0 {
		opts.Workers = runtime.GOMAXPROCS(0)
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	m := &Member{root: root, opts: opts, log: opts.Logger, requests: make(chan *Request), mounts: mounts.Of(root)}
	m.view.Store(&opts.View)
	return m
}

// Look changes the view of this process.
func (m *Member) Look(v View) {
	if m != nil {
		m.view.Store(&v)
	}
}

// Join makes this process the owner of the index, unless there is one or Options.Ask
// forbids that. The owner answers other processes.
func (m *Member) Join() error {
	if m.opts.Ask {
		return nil
	}
	err := m.own()
	if err == nil && m.opts.Record != nil {
		m.keepRecording()
	}
	return err
}

// own makes this process the owner unless another process is.
func (m *Member) own() error {
	m.takeOver.Lock()
	defer m.takeOver.Unlock()
	if m.owned.Load() != nil || m.closed {
		return nil
	}
	o, err := m.take()
	if errors.Is(err, errOwned) {
		return nil
	}
	if err == nil {
		m.owned.Store(o)
	}
	return err
}

// Close closes the index. Calls in progress end with an error.
func (m *Member) Close() error {
	if m == nil {
		return nil
	}
	if m.stopRecording != nil {
		m.stopRecording()
		if err := m.recordingEnds.WaitErr(); err != nil {
			m.log.Error("recorder", "err", err)
		}
	}
	m.takeOver.Lock()
	again := m.closed
	m.closed = true
	o := m.owned.Load()
	m.takeOver.Unlock()
	defer m.mounts.Close()
	m.silent.close()
	if l := m.lent.Load(); l != nil {
		l.ix.Close()
		l.state.Close()
		l.root.Close()
	}
	var err error
	if o != nil {
		err = o.close() // close waits for requests in progress
	}
	if !again {
		close(m.requests)
	}
	return err
}

// holds returns the index if this process is the owner, and otherwise nil.
func (m *Member) holds() *owned {
	if m == nil {
		return nil
	}
	return m.owned.Load()
}

// Owns reports whether this process is the owner.
func (m *Member) Owns() bool { return m.holds() != nil }

// source returns the index that this process reads: its own, or a stored one without an
// owner.
func (m *Member) source() *owned {
	if o := m.holds(); o != nil || m == nil {
		return o
	}
	return m.lent.Load()
}

// ready reports whether this process has an index that can answer.
func (m *Member) ready() bool {
	o := m.source()
	return o != nil && o.ready.Load()
}

// Ready reports whether this process has an index that answers a query faster than a
// scan. ask is nil for a query about paths.
func (m *Member) Ready(ask *index.Ask) bool {
	return m.ready() && (m.Owns() || m.source().worth(ask))
}

// Yield makes a build in this process wait for the caller; see index.Index.Yield.
func (m *Member) Yield() (end func()) {
	if o := m.holds(); o != nil && !o.ready.Load() {
		return o.ix.Yield()
	}
	return func() {}
}

// HasIgnored reports whether the index of this process may have ignored files. Only Fresh
// knows for certain.
func (m *Member) HasIgnored() bool {
	o := m.source()
	return o != nil && o.withIgnored.Load()
}

// ErrNoIndex means that no index can answer, so the caller must scan.
var ErrNoIndex = errors.New("no index answers")

// Fresh returns the up-to-date index of this process, or ErrNoIndex if it has none or
// that is not ready.
func (m *Member) Fresh(ctx context.Context) (*index.Snapshot, error) {
	if !m.ready() {
		return nil, ErrNoIndex
	}
	return m.source().ix.Fresh(ctx)
}

// Touched tells the index which files and trees this process has changed or may have
// changed. Some file systems don't send file events.
func (m *Member) Touched(files, trees []rootfs.Path) {
	if !m.Owns() || !m.ready() {
		return
	}
	ix := m.holds().ix
	if len(trees) > 0 {
		ix.MarkTree(trees...)
	}
	if len(files) > 0 {
		ix.MarkDirty(files...)
	}
}

// Status returns the state of the index. If it has no owner, the state is not_found, and
// DiskBytes is the size of the stored index.
func (m *Member) Status(ctx context.Context) (*search.IndexStatus, error) {
	if o := m.holds(); o != nil {
		return o.status(), nil
	}
	st := &search.IndexStatus{State: "not_found"}
	if m == nil {
		return st, nil
	}
	if theirs, err := m.askStatus(ctx); err == nil {
		return theirs, nil
	}
	st.Dir = m.opts.Dir
	m.opts.usage(st)
	return st, nil
}

// Idle returns the time since the last request of another process.
func (m *Member) Idle() time.Duration {
	o := m.holds()
	if o == nil || o.server == nil {
		return 0
	}
	if o.recording.users.Load() > 0 {
		return 0
	}
	return o.server.Idle()
}

// Verify reads every file and compares it with the index of this process. It calls fault
// for every difference, and progress for each file.
func (m *Member) Verify(ctx context.Context, fault func(path, what string), progress func(search.Progress)) (index.Verified, error) {
	o := m.holds()
	if o == nil {
		return index.Verified{}, ErrNotOwner
	}
	if err := o.ix.Flush(ctx); err != nil {
		return index.Verified{}, fmt.Errorf("verify: %w", err)
	}
	total := o.ix.Status().Documents
	var files, size atomic.Int64
	return o.ix.Verify(ctx, fault, func(n int, b int64) {
		p := search.Progress{Files: int(files.Add(int64(n))), Total: total, Bytes: size.Add(b)}
		if progress != nil {
			progress(p)
		}
	})
}
