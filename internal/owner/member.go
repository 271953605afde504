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

	"quarry/internal/index"
	"quarry/internal/rootfs"
	"quarry/internal/walk"
	"quarry/search"
)

// Options say where the index of a root lives, who may own it and what belongs
// to it.
type Options struct {
	// Dir is the folder of this index, private to its user and outside the
	// root. There is one for a root, whatever policy and rules its clients have.
	Dir string
	// Socket is where the owner answers others; "" shares with nobody.
	Socket string
	// Home is the folder in which the indexes of all roots lie, Dir among
	// them. With it, Dir is made when it is missing, and the indexes used
	// longest ago are deleted when all together have more than MaxBytes; those
	// that a process owns stay.
	Home string
	// MaxBytes bounds all indexes in Home together; 0 is 10 GB.
	MaxBytes int64
	// Ask only uses an index that another process owns. It is for short-lived
	// programs: without one, they scan.
	Ask bool
	// MaxWatches bounds the folders watched; 0 leaves it to the system.
	MaxWatches int
	// MaxIgnored is how many files that ignore rules exclude may be in the index;
	// 0 is 20,000.
	MaxIgnored int
	// Progress hears how a build goes, from any goroutine.
	Progress func(search.Progress)
	// Version and Program are told to those who ask for the status: of this
	// process's program, and its file.
	Version, Program string

	View View // of this process, for the owner to answer through
	// As gives the searches of another view of the root, by the index of this
	// process.
	As func(v *View) (s Searches, done func() error, err error)

	Workers int          // 0 is one for each processor
	Logger  *slog.Logger // nil is silent
}

// walk decides what belongs to the index: what a search by the rules in the tree
// sees, and hidden files. What the built-in policy protects, a repository's own
// folder among it, the index's root doesn't show.
func (o *Options) walk() walk.Options { return walk.Options{Hidden: true, Workers: o.Workers} }

// Searches answers for the root, by the index of this process. An owner has it
// answer what other processes ask.
type Searches interface {
	SearchEach(ctx context.Context, q search.Query, yield func(*search.FileMatch) error) (*search.Summary, error)
	Find(ctx context.Context, q search.FindQuery) (*search.FindResult, error)
	SearchCode(ctx context.Context, q search.CodeQuery) (*search.CodeResult, error)
}

// Member is the part of one process in the index of a root: it owns the index,
// or asks the process that does. One that asks becomes the owner when that
// process is gone, unless Options.Ask forbids it. The nil Member has no index.
type Member struct {
	root     *rootfs.Root
	opts     Options
	searches Searches
	log      *slog.Logger

	mounts   *rootfs.Mounts
	view     atomic.Pointer[View]  // of this process
	views    views                 // of the processes that ask
	owned    atomic.Pointer[owned] // when this process is the owner
	lent     atomic.Pointer[owned] // an index without an owner; see lend
	silent   silence               // an owner that shows no life
	takeOver sync.Mutex            // one attempt at a time
	closed   bool                  // guarded by takeOver
}

// New makes a Member that has no index until Join.
func New(root *rootfs.Root, opts Options, searches Searches) *Member {
	if opts.Workers <= 0 {
		opts.Workers = runtime.GOMAXPROCS(0)
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	m := &Member{root: root, opts: opts, searches: searches, log: opts.Logger, mounts: root.Mounts()}
	m.view.Store(&opts.View)
	return m
}

// Look changes how this process sees the root, for the owner to answer through.
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
	return m.own()
}

// own takes the index over unless another process has it.
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

// Close gives the index up. Calls under way end with an error.
func (m *Member) Close() error {
	if m == nil {
		return nil
	}
	m.takeOver.Lock()
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
	if o == nil {
		return nil
	}
	err := o.close()
	m.views.close()
	return err
}

// holds is the index of this process; nil if it has none.
func (m *Member) holds() *owned {
	if m == nil {
		return nil
	}
	return m.owned.Load()
}

// Owns reports whether this process is the owner.
func (m *Member) Owns() bool { return m.holds() != nil }

// source is the index that this process answers by: its own, or one it was lent.
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

// Ready reports whether this process has an index that answers sooner than a scan
// would. nil is for a question about paths.
func (m *Member) Ready(ask *index.Ask) bool {
	return m.ready() && (m.Owns() || m.source().worth(ask))
}

// HasIgnored reports whether ignored files may be in the index of this process;
// Fresh tells for sure.
func (m *Member) HasIgnored() bool {
	o := m.source()
	return o != nil && o.withIgnored.Load()
}

// ErrNoIndex says that no index can answer: scan instead.
var ErrNoIndex = errors.New("no index answers")

// Fresh is the index of this process as of now. It is ErrNoIndex if there is
// none, or not yet.
func (m *Member) Fresh(ctx context.Context) (*index.Snapshot, error) {
	if !m.ready() {
		return nil, ErrNoIndex
	}
	return m.source().ix.Fresh(ctx)
}

// Touched tells the index which files and trees this process has changed, or
// may have. Events would tell it too, where the file system has them.
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

// Status tells how the index is doing. Without an owner the state is
// not_found; DiskBytes then tells what an earlier one has left.
func (m *Member) Status(ctx context.Context) *search.IndexStatus {
	if o := m.holds(); o != nil {
		return o.status()
	}
	st := &search.IndexStatus{State: "not_found"}
	if m == nil {
		return st
	}
	if theirs, err := m.askStatus(ctx); err == nil {
		return theirs
	}
	st.Dir = m.opts.Dir
	m.opts.usage(st)
	return st
}

// Idle is how long no other process has asked anything.
func (m *Member) Idle() time.Duration {
	o := m.holds()
	if o == nil || o.server == nil {
		return 0
	}
	return o.server.Idle()
}

// Verify reads every file again and compares it with what this process's index
// has of it. Every difference is told to fault; read hears of each file.
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
