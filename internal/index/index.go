// Package index finds the files that could match a query.
//
// The Candidates of a Snapshot include every file whose text satisfied the query's need
// when Fresh was called; they may include others. The index is only a cache of the tree:
// files that are missing, damaged or out of date in it are read again. An Index is safe
// for concurrent use; a Snapshot is immutable.
//
// Grams are stored by block. A block is a run of whole lines, so for a search by lines the
// index knows which parts of a large file could match: no line outside Doc.Parts matches, as
// long as the file has the document's stamp.
//
// The index includes the regular files that a walk with Options.Walk lists. It also includes
// hidden files and, if there are few, ignored files; both have a flag. It does not include
// files reached through symlinks and files that the policy denies. A changed file is dirty:
// it is a candidate for every search until it has been read again, so a search never waits
// for indexing.
package index

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"quarry/internal/rootfs"
	"quarry/internal/walk"
)

// Options are the options of Open. nil means the zero value.
type Options struct {
	// Walk contains the ignore rules that decide which files belong to the index. Start,
	// Hidden, Filter, MaxDepth and FollowLinks are set by the index.
	Walk walk.Options
	// Source reports changes. Without a source, every Fresh compares the stamps of all
	// files.
	Source Source
	// MaxIgnored limits the ignored files in the index; 0 means none. They require a
	// Source that reports changes to ignored files.
	MaxIgnored int
	// ReadOnly opens an index that belongs to another process: nothing is written, and
	// changed files stay dirty.
	ReadOnly bool
	// Trusting checks postings only when they are read. It is meant for processes that
	// make a single search.
	Trusting bool
	// Workers is the number of goroutines; 0 means one per processor.
	Workers int
	// Fields extracts fields from texts. It may be nil.
	Fields *Extractor
	// Frugal allows a flush of many files to change this process's garbage collector
	// settings.
	Frugal bool
	// Progress, if set, is called during a flush, from any goroutine. files is the number
	// of files read since the previous call, and bytes the total size read so far.
	Progress func(files int, bytes int64)
	Logger   *slog.Logger // nil means no log

	budget int64         // for tests: replaces runBudget
	racy   time.Duration // for tests: replaces racyWindow
}

// Changes are paths below the root that may have changed.
type Changes struct {
	Files []rootfs.Path
	Trees []rootfs.Path // folders to list and compare, including everything below
	// Stamps reports that any known files may have been written to, but that it is unknown
	// which. It does not imply that files were created or deleted.
	Stamps bool
}

// Source reports changes.
type Source interface {
	// Barrier passes to apply every change whose system call returned before Barrier was
	// called, except those passed before. It returns trees for which it can't report
	// changes. apply must not call the Source.
	Barrier(ctx context.Context, apply func(Changes)) (sweep []rootfs.Path, err error)
}

// ErrOwned is returned by Open if another process writes this index.
var ErrOwned = errors.New("index is in use by another process")

// ErrReadOnly is returned by methods that write if the index is read-only.
var ErrReadOnly = errors.New("index is opened for reading only")

// Index is the index of one root.
type Index struct {
	root  *rootfs.Root
	state *rootfs.Root
	opts  Options
	log   *slog.Logger
	lock  *rootfs.Log

	freshening sync.Mutex // allows one barrier, sweep or resolution at a time
	writing    sync.Mutex // allows one flush or merge at a time
	wake       chan struct{}
	scans      atomic.Int64 // searches that a build waits for

	mu         sync.Mutex
	segs       []*held              // oldest first
	dirty      map[string]*change   // by path
	trees      map[string]bool      // folders to sweep
	unsure     bool                 // all stamps must be compared
	eventless  inodes               // files found changed by comparing stamps, without an event
	pending    map[string]bool      // paths of changes to check
	unreadable map[string]walk.Skip // folders that the latest walk couldn't read
	seq        uint64               // number of the latest change
	maxIgnored int                  // Options.MaxIgnored; set to 0 if they are dropped permanently
	ignored    bool                 // the index includes ignored files
	tooMany    bool                 // there were more than maxIgnored of them
	few        bool                 // there are now clearly fewer
	swept      bool                 // the tree was compared since Open
	sweptAt    time.Time            // time of the latest comparison of the whole tree
	sweeps     uint64               // number of sweeps, including partial ones
	restamps   uint64
	number     uint64    // number of the latest manifest written or found
	inForce    uint64    // number of the manifest that lists segs
	names      uint64    // number of segments made so far
	snap       *snapshot // the current state; nil after a change
	closed     bool
}

// Open opens the index of root. state is a trusted root for the files of this index alone.
// Open never fails because of the contents of state: an index that is damaged or has another
// version is dropped and built again. Nothing is compared with the tree until Fresh or Sweep
// is called.
func Open(root, state *rootfs.Root, opts *Options) (*Index, error) {
	ix := &Index{root: root, state: state, dirty: map[string]*change{}, trees: map[string]bool{}, pending: map[string]bool{}, eventless: inodes{}, unreadable: map[string]walk.Skip{}, wake: make(chan struct{}, 1)}
	if opts != nil {
		ix.opts = *opts
	}
	ix.maxIgnored = ix.opts.MaxIgnored
	if ix.opts.Workers <= 0 {
		ix.opts.Workers = runtime.GOMAXPROCS(0)
	}
	if ix.opts.budget <= 0 {
		ix.opts.budget = runBudget
	}
	if ix.opts.racy <= 0 {
		ix.opts.racy = racyWindow
	}
	if ix.log = ix.opts.Logger; ix.log == nil {
		ix.log = slog.New(slog.DiscardHandler)
	}
	if !ix.opts.ReadOnly {
		if err := ix.own(); err != nil {
			return nil, err
		}
	}
	found, err := listStored(state)
	if err != nil {
		ix.disown()
		return nil, err
	}
	var problems []error
	ix.inForce, ix.segs, problems = load(state, found, ix.opts.Fields, ix.opts.Trusting)
	for _, err := range problems {
		ix.log.Warn("index: rebuilding what is damaged", "err", err)
	}
	if len(found.manifests) > 0 {
		ix.number = found.manifests[0]
	}
	for _, n := range found.segments {
		ix.names = max(ix.names, n)
	}
	if !ix.opts.ReadOnly {
		ix.tidy(found)
	}
	return ix, nil
}

// own takes the lock of the only writer.
func (ix *Index) own() error {
	lock, err := ix.state.Hold(lockName, false)
	if err == nil && lock == nil {
		err = ErrOwned
	}
	ix.lock = lock
	return err
}

func (ix *Index) disown() {
	if ix.lock != nil {
		ix.lock.Close()
	}
}

// tidy removes files left behind by a crash or by an earlier state.
func (ix *Index) tidy(found stored) {
	var old []string
	for _, n := range found.manifests {
		if n != ix.inForce {
			old = append(old, numbered(manifestPrefix, n))
		}
	}
	for _, n := range found.segments {
		name := numbered(segmentPrefix, n)
		if !slices.ContainsFunc(ix.segs, func(h *held) bool { return h.seg.name == name }) {
			old = append(old, name)
		}
	}
	if err := remove(ix.state, old...); err != nil {
		ix.log.Warn("index: can't remove old files", "err", err)
	}
	if _, err := ix.state.CleanTemps(context.Background(), rootfs.Path{}); err != nil {
		ix.log.Warn("index: can't remove temporary files", "err", err)
	}
}

// Close closes the index. Open snapshots stay usable until they are closed.
func (ix *Index) Close() error {
	ix.writing.Lock()
	defer ix.writing.Unlock()
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if ix.closed {
		return nil
	}
	ix.closed = true
	ix.forgetSnapshot()
	for _, h := range ix.segs {
		h.seg.release()
	}
	ix.segs = nil
	ix.disown()
	return nil
}

// Status describes an Index for users and receipts.
type Status struct {
	Segments  int
	Documents int   // number of known files, including dirty ones
	Dirty     int   // number of files to be read again
	Bytes     int64 // size on disk
	Text      int64 // total size of the texts that were read
	Swept     bool  // the index was compared with the tree
	// Sweeps counts how often folders were listed and compared; Restamps counts how often
	// only stamps were compared. SweptAt is the time of the latest sweep of the whole
	// tree.
	Sweeps, Restamps uint64
	SweptAt          time.Time
}

// Status returns the state of the index.
func (ix *Index) Status() Status {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	st := Status{Segments: len(ix.segs), Dirty: len(ix.dirty), Swept: ix.swept, Sweeps: ix.sweeps, Restamps: ix.restamps, SweptAt: ix.sweptAt}
	for _, h := range ix.segs {
		st.Documents += h.seg.docs.n - h.dead.count()
		st.Bytes += h.seg.size
		st.Text += h.text()
	}
	for _, c := range ix.dirty {
		switch {
		case c.in == nil && c.member:
			st.Documents++
		case c.in != nil && !c.member && !c.pending:
			st.Documents-- // the next flush drops its document
		}
	}
	return st
}
