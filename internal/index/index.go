// Package index answers one question: which files could match?
//
// The Candidates of a Snapshot include every file whose text satisfies the need
// at the moment Fresh was called; they may include others. The index is a cache
// of the tree: files that are damaged, unknown or changed in it are read again.
// An Index is safe for concurrent use, a Snapshot is immutable.
//
// Grams are kept by block. A block is a run of whole lines, so a search by lines knows which
// parts of a large file could match: no line outside Doc.Parts does, as long as the file has
// the document's stamp.
//
// It covers the regular files that a walk with Options.Walk lists, including hidden ones, and
// ignored ones while they are few, each with a flag. It omits files reached by symlinks and
// files that the policy denies. A changed file is dirty: it is a candidate for every search
// until it has been read again, so a search never waits for indexing.
package index

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"time"

	"quarry/internal/rootfs"
	"quarry/internal/walk"
)

// Options of Open; nil is fine.
type Options struct {
	// Walk has the ignore rules that decide which files belong to the index. The
	// index sets Start, Hidden, Filter, MaxDepth and FollowLinks itself.
	Walk walk.Options
	// Source reports changes. Without a source, Fresh compares the stamps of all
	// files each time.
	Source Source
	// MaxIgnored bounds the ignored files in the index; 0 is none. It needs a
	// Source that reports ignored files.
	MaxIgnored int
	// ReadOnly is for a folder that belongs to another process: nothing is
	// written, and changed files stay dirty.
	ReadOnly bool
	// Trusting checks postings only when they are read, for processes that make
	// one search.
	Trusting bool
	// Workers is the number of goroutines; 0 is one for each processor.
	Workers int
	// Fields extracts fields from texts; nil for none.
	Fields *Extractor
	// Frugal lets a flush of many files set the garbage collector of this process.
	Frugal bool
	// Progress, if set, is called during a flush, from any goroutine, with the
	// number of further files read and the bytes read so far.
	Progress func(files int, bytes int64)
	Logger   *slog.Logger // nil is silent

	budget int64         // for tests: runBudget
	racy   time.Duration // for tests: racyWindow
}

// Changes are paths below the root that may have changed.
type Changes struct {
	Files []rootfs.Path
	Trees []rootfs.Path // folders to be listed and compared, with all below
	// Stamps reports that any known file may have been written to, and it is unknown which.
	// No file was created or deleted.
	Stamps bool
}

// Source reports changes.
type Source interface {
	// Barrier passes to apply every change whose system call returned before
	// Barrier was called, unless an earlier call did. It returns trees for which
	// it can't report changes. apply must not call the Source.
	Barrier(ctx context.Context, apply func(Changes)) (sweep []rootfs.Path, err error)
}

// ErrOwned is returned by Open when another process writes this index.
var ErrOwned = errors.New("index is in use by another process")

// ErrReadOnly is returned by calls that write.
var ErrReadOnly = errors.New("index is opened for reading only")

// Index is the index of one root.
type Index struct {
	root  *rootfs.Root
	state *rootfs.Root
	opts  Options
	log   *slog.Logger
	lock  *rootfs.Log

	freshening sync.Mutex // one barrier, sweep or resolution at a time
	writing    sync.Mutex // one flush or merge at a time
	wake       chan struct{}

	mu         sync.Mutex
	segs       []*held              // oldest first
	dirty      map[string]*change   // by path
	trees      map[string]bool      // folders to be swept
	unsure     bool                 // stamps must be compared
	eventless  inodes               // files found changed by such a comparison
	pending    map[string]bool      // changes to be checked
	unreadable map[string]walk.Skip // folders that no walk could read
	seq        uint64               // of the last change
	maxIgnored int                  // Options.MaxIgnored, or 0 later
	ignored    bool                 // ignored files are in it
	tooMany    bool                 // they were more than maxIgnored
	few        bool                 // and are clearly fewer now
	swept      bool                 // the tree was compared since Open
	sweptAt    time.Time            // when the whole tree last was
	sweeps     uint64               // of any part
	restamps   uint64
	number     uint64    // of the last manifest written or found
	inForce    uint64    // of the manifest that names segs
	names      uint64    // segments made so far
	snap       *snapshot // of the current state, nil after a change
	closed     bool
}

// Open opens the index of root in the folder state, a trusted root used by this index alone.
// It never fails because of the content of the folder: an index that is damaged or of another
// version is dropped and built again. Nothing is compared with the tree until Fresh or Sweep.
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

// own takes the lock that makes this process the only writer.
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

// tidy removes files that a crash or an older state left behind.
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

// Close closes the index. Snapshots stay usable until they are closed.
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

// Status describes an Index for people and receipts.
type Status struct {
	Segments  int
	Documents int   // files known, dirty ones included
	Dirty     int   // files to be read again
	Bytes     int64 // on disk
	Text      int64 // bytes of the texts among the files that were read
	Swept     bool  // it was compared with the tree
	// Sweeps counts how often folders were listed and compared, Restamps how
	// often stamps alone were; SweptAt is when the whole tree was swept last.
	Sweeps, Restamps uint64
	SweptAt          time.Time
}

// Status returns figures.
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
			st.Documents-- // its document is dropped with the next flush
		}
	}
	return st
}
