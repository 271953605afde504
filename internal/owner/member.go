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

// Options choose where the index of a root is, who may own it and which files belong to it.
type Options struct {
	// Dir is the folder of this index, private to its user and outside the
	// root. There is one for a root, whatever policy and rules its clients have.
	Dir string
	// Socket is where the owner answers other processes; "" shares with none.
	Socket string
	// Home is the folder that holds the indexes of all roots, including Dir. If
	// it is set, a missing Dir is made. When all indexes together exceed
	// MaxBytes, the least recently used ones are deleted, but never one that a
	// process owns.
	Home string
	// MaxBytes bounds all indexes in Home together; 0 is 10 GB.
	MaxBytes int64
	// Ask makes this process a client only: it uses an index that another process
	// owns and scans if there is none. It is for short-lived programs.
	Ask bool
	// MaxWatches bounds the folders watched; 0 leaves it to the system.
	MaxWatches int
	// MaxIgnored is how many ignored files the index may hold; 0 is 20,000.
	MaxIgnored int
	// Frugal lets a build set the garbage collector of this process.
	Frugal bool
	// Progress is called with the progress of a build, from any goroutine.
	Progress func(search.Progress)
	// Version and Program are the version and the file of this process's program.
	// The status reports them.
	Version, Program string

	// Record lets the owner of the index record what other programs change, whichever
	// process that is; nil leaves it to others.
	Record *Record

	View View // the view of this process, which the owner applies to its answers

	// Fields extracts from texts the values that the index keeps; nil for none.
	Fields *index.Extractor

	Workers int          // 0 is one for each processor
	Logger  *slog.Logger // nil is silent
}

// walk decides which files belong to the index: those that a search with the rules in the tree finds, and
// hidden files. The index's root does not show files that the built-in policy protects, such as .git.
func (o *Options) walk() walk.Options { return walk.Options{Hidden: true, Workers: o.Workers} }

// Member is the role of one process for the index of a root: it owns the index,
// or asks the owner. A process that asks becomes the owner when the owner has
// ended, unless Options.Ask forbids it. The nil Member has no index.
type Member struct {
	root     *rootfs.Root
	opts     Options
	log      *slog.Logger
	requests chan *Request

	mounts   *mounts.Mounts
	view     atomic.Pointer[View]  // of this process
	owned    atomic.Pointer[owned] // when this process is the owner
	lent     atomic.Pointer[owned] // an index without an owner; see lend
	silent   silence               // an owner that sends no sign of life
	takeOver sync.Mutex            // one attempt at a time
	closed   bool                  // guarded by takeOver

	stopRecording context.CancelFunc // nil if this process does not record
	recordingEnds crew.Group
}

// New makes a Member that has no index until Join.
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

// Look changes the view of this process, which the owner applies to its answers.
func (m *Member) Look(v View) {
	if m != nil {
		m.view.Store(&v)
	}
}

// Join makes this process the owner of the index, unless another one is or
// Options.Ask forbids it. From then on other processes may ask.
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

// Close releases the index. Calls in progress end with an error.
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
		err = o.close() // waits for the requests in progress
	}
	if !again {
		close(m.requests)
	}
	return err
}

// holds returns the index of this process; nil if it has none.
func (m *Member) holds() *owned {
	if m == nil {
		return nil
	}
	return m.owned.Load()
}

// Owns reports whether this process is the owner.
func (m *Member) Owns() bool { return m.holds() != nil }

// source returns the index that this process uses: its own, or a stored one that it has
// opened for reading.
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

// Ready reports whether this process has an index that answers faster than a
// scan. nil is a query about paths.
func (m *Member) Ready(ask *index.Ask) bool {
	return m.ready() && (m.Owns() || m.source().worth(ask))
}

// HasIgnored reports whether ignored files may be in the index of this process;
// Fresh knows for certain.
func (m *Member) HasIgnored() bool {
	o := m.source()
	return o != nil && o.withIgnored.Load()
}

// ErrNoIndex means that no index can answer, so the caller has to scan.
var ErrNoIndex = errors.New("no index answers")

// Fresh returns the current index of this process, or ErrNoIndex if there is none, or not
// yet.
func (m *Member) Fresh(ctx context.Context) (*index.Snapshot, error) {
	if !m.ready() {
		return nil, ErrNoIndex
	}
	return m.source().ix.Fresh(ctx)
}

// Touched reports to the index the files and trees that this process has changed or may
// have changed. Events don't suffice, because some file systems lack them.
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

// Status reports the state of the index. Without an owner the state is not_found,
// and DiskBytes is the size of the stored index.
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

// Verify reads every file again and compares it with the index of this process.
// It calls fault for every difference, and read for each file.
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
