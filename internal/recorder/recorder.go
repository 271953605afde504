// Package recorder records changes made by other programs in a workspace, so that they
// can be listed and undone like Quarry's own.
//
// It keeps a baseline: the contents of the files at the last comparison. Events from the
// watcher only tell which paths to compare; the comparison with the baseline tells what
// has changed. Changes in Quarry's own log are not recorded again. All others become
// entries of a second log, which has its own limits: see journal.Journal.Record.
//
// The invariant: every difference of a covered file between two successful calls of Flush
// is in one of the two logs, even if the process was killed in between, and undoing the
// entry restores content and permissions. Changes that are not covered are counted.
//
// One process records a root: the owner of its index. After a crash, the baseline is
// older than the logs, and is updated by replaying them (replay.go).
package recorder

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"quarry/fault"
	"quarry/internal/githead"
	"quarry/internal/journal"
	"quarry/internal/policy"
	"quarry/internal/rootfs"
	"quarry/internal/walk"
)

// Options are the options of Open.
type Options struct {
	// StateDir is the folder of the undo log.
	StateDir string
	// MaxBytes limits the total size of contents and entries; 0 means 512 MB. KeepAge is
	// the age at which entries are dropped; 0 means 14 days.
	MaxBytes int64
	KeepAge  time.Duration
	// Walk determines which files are covered, and Covers reports whether a path is.
	Walk   walk.Options
	Covers func(path string, dir bool) bool
	// Refresh makes the watcher pass everything that has happened so far to Changed.
	Refresh func(ctx context.Context) error
	Workers int
	Logger  *slog.Logger
	Layer   *rootfs.Layer // for tests
}

const (
	defaultMaxBytes = 512 << 20
	defaultKeepAge  = 14 * 24 * time.Hour
	// Changes become an entry once nothing has changed for the time quiet, but at the
	// latest after maxWait.
	quiet   = time.Second
	maxWait = 30 * time.Second
)

// Recorder records one workspace. Its methods are safe for concurrent use.
type Recorder struct {
	opts    Options
	disk    *disk
	state   *rootfs.Root
	folder  *rootfs.Root // contains the log of outside changes and the baseline
	journal *journal.Journal
	outside *journal.Journal
	top     *rootfs.Root // top folder of the git checkout; nil if there is none
	wake    chan struct{}
	started chan struct{} // closed when the baseline was built or compared for the first time
	begun   bool          // an earlier recorder has left a baseline

	flushing sync.Mutex // one comparison at a time; guards base's state, disk.blobs and paces
	paces    paces
	base     *baseline
	marks    marks
	omitted  atomic.Int64 // counts changes of contents that are not kept, and versions of files that wait
	recorded journal.ID   // the newest entry that we recorded

	mu      sync.Mutex
	files   map[string]bool // paths to compare
	trees   map[string]bool
	denials []*policy.Policy
	problem error // the error from the last comparison
}

// Open prepares to record the folder root, which it opens with the built-in policy. No
// files are read before Run or Flush.
func Open(root string, opts *Options) (r *Recorder, err error) {
	r = &Recorder{opts: *opts, wake: make(chan struct{}, 1), started: make(chan struct{}), files: map[string]bool{}, trees: map[string]bool{}, paces: paces{map[string]*pace{}, map[string]bool{}, time.Now}}
	r.opts.MaxBytes = cmp.Or(r.opts.MaxBytes, defaultMaxBytes)
	if r.opts.KeepAge <= 0 {
		r.opts.KeepAge = defaultKeepAge
	}
	if r.opts.MaxBytes < 0 {
		return nil, errNoBudget
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Close())
		}
	}()
	r.disk = &disk{covers: func(path string, dir bool) bool { return r.opts.Covers(path, dir) && !r.denied(path) }}
	if r.disk.root, err = rootfs.Open(root, &rootfs.Options{AllowAny: true, ReadOnly: true, Layer: opts.Layer}); err != nil {
		return r, err
	}
	if r.state, err = rootfs.Open(opts.StateDir, &rootfs.Options{Trusted: true, AllowAny: true, Private: opts.Layer == nil, Layer: opts.Layer}); err != nil {
		return r, err
	}
	limits := &journal.Options{MaxBytes: r.opts.MaxBytes / 2, MaxAge: r.opts.KeepAge, Blob: r.blob}
	if r.outside, r.folder, err = journal.OpenOutside(r.state, true, limits); err != nil {
		return r, err
	}
	if r.journal, err = journal.Open(r.state, &journal.Options{Beside: func() *journal.Journal { return r.outside }}); err != nil {
		return r, err
	}
	r.base, err = openBaseline(r.folder, r.opts.MaxBytes/2)
	if errors.Is(err, errFormat) { // a new baseline is built; the entries remain
		opts.Logger.Warn("recorder: the baseline is damaged, and made anew")
		r.base, err = freshBaseline(r.folder, r.opts.MaxBytes/2)
	}
	if err == nil {
		r.begun = r.base.built
		r.openGit(context.Background())
	}
	return r, err
}

var errNoBudget = fault.New(fault.InvalidArgument, "record.max-size is 0, so nothing is recorded", "raise it in quarry.toml")

// Close ends the recording. The baseline remains, so the next recorder finds changes made
// in between.
func (r *Recorder) Close() error {
	var errs []error
	if r.disk != nil && r.disk.blobs != nil {
		r.disk.blobs.Close()
	}
	for _, j := range []*journal.Journal{r.journal, r.outside} {
		if j != nil {
			errs = append(errs, j.Close())
		}
	}
	if r.base != nil {
		errs = append(errs, r.base.close())
	}
	for _, root := range []*rootfs.Root{r.folder, r.state, r.top} {
		if root != nil {
			errs = append(errs, root.Close())
		}
	}
	if r.disk != nil && r.disk.root != nil {
		errs = append(errs, r.disk.root.Close())
	}
	return errors.Join(errs...)
}

// openGit opens the contents of the workspace's git repository, if there is one. It is
// called before each comparison, because packs are added and removed.
func (r *Recorder) openGit(ctx context.Context) {
	if r.disk.blobs != nil {
		r.disk.blobs.Close()
		r.disk.blobs = nil
	}
	if r.top == nil {
		r.top = githead.Checkout(r.disk.root.RealDir())
	}
	if r.top != nil {
		r.disk.blobs, _ = githead.OpenBlobs(ctx, r.top) // if nil, all contents are stored
	}
}

var errNoRepository = errors.New("the workspace is no longer in a git repository")

// blob reads a content from git.
func (r *Recorder) blob(id string) ([]byte, error) {
	if r.disk.blobs == nil {
		return nil, errNoRepository
	}
	return r.disk.blobs.Blob(context.Background(), id)
}

// Deny adds a client's rules: the contents of files that they deny are not recorded.
func (r *Recorder) Deny(p *policy.Policy) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.denials = append(r.denials, p)
}

func (r *Recorder) denied(path string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.denials, func(p *policy.Policy) bool { return p.Path(path, false).Refused() })
}

// Changed adds paths to compare: files that may have changed, and trees in which anything
// may have changed.
func (r *Recorder) Changed(files, trees []string) {
	if len(files)+len(trees) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range files {
		r.files[p] = true
	}
	for _, p := range trees {
		r.trees[p] = true
	}
	if len(r.files) > maxFiles {
		clear(r.files)
		r.trees = map[string]bool{"": true}
	}
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Also adds trees that are not watched to the next comparison.
func (r *Recorder) Also(trees []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range trees {
		r.trees[p] = true
	}
}

// maxFiles limits the paths waiting for comparison. Beyond it, all files are compared by
// their stamps.
const maxFiles = 100_000

func (r *Recorder) take() (files, trees []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	files, trees = slices.Collect(maps.Keys(r.files)), slices.Collect(maps.Keys(r.trees))
	clear(r.files)
	clear(r.trees)
	select {
	case <-r.wake:
	default:
	}
	return files, trees
}

// Run records until ctx ends. pending receives a value when Refresh would report changes.
func (r *Recorder) Run(ctx context.Context, pending <-chan struct{}) {
	r.first(ctx)
	timer := time.NewTimer(0)
	timer.Stop()
	defer timer.Stop()
	var begun time.Time // when the changes began for which the timer is running
	for {
		select {
		case <-ctx.Done():
			return
		case <-pending:
		case <-r.wake:
		case <-timer.C:
			begun = time.Time{}
			switch _, waits, err := r.flush(ctx, false); {
			case err != nil && ctx.Err() == nil:
				timer.Reset(maxWait) // after an error, such as a full disk
			case waits:
				timer.Reset(perVersion)
			}
			continue
		}
		if begun.IsZero() {
			begun = time.Now()
		}
		timer.Reset(min(quiet, max(time.Until(begun.Add(maxWait)), 0)))
	}
}

// first builds the baseline, or compares it with changes made while no recorder was
// running.
func (r *Recorder) first(ctx context.Context) {
	r.flushing.Lock()
	defer r.flushing.Unlock()
	defer close(r.started)
	var err error
	if r.base.built {
		_, err = r.record(ctx, nil, []string{""}, "while Quarry was not running")
	} else {
		err = r.build(ctx)
		debug.FreeOSMemory() // reading 80,000 files leaves 28 MB that the runtime would keep
	}
	if r.fail(err); err != nil {
		r.Changed(nil, []string{""})
	}
}

// Flush records all changes up to now at once, and returns their paths. While the first
// baseline is being built it does nothing.
func (r *Recorder) Flush(ctx context.Context) (paths []string, err error) {
	paths, _, err = r.flush(ctx, true)
	return paths, err
}

// flush is Flush, but unless all is set, files that change constantly may wait.
func (r *Recorder) flush(ctx context.Context, all bool) (paths []string, waits bool, err error) {
	if r.begun {
		select {
		case <-r.started:
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
	} else if !r.ready() {
		return nil, false, nil
	}
	if err := r.opts.Refresh(ctx); err != nil {
		return nil, false, err
	}
	r.flushing.Lock()
	defer r.flushing.Unlock()
	if !r.base.built {
		if err := r.build(ctx); err != nil { // the first attempt failed
			return nil, false, err
		}
	}
	files, trees := r.take()
	if !all {
		waiting := 0
		files, waiting = r.paces.hold(files)
		r.omitted.Add(int64(waiting))
	}
	files = append(files, r.paces.due(all)...)
	waits = len(r.paces.held) > 0
	if len(files)+len(trees) == 0 {
		return nil, waits, nil
	}
	paths, err = r.record(ctx, files, trees, "")
	if r.fail(err); err != nil {
		r.Changed(files, trees) // compare them again next time
	}
	return paths, waits, err
}

// ready reports whether the baseline was built and compared once.
func (r *Recorder) ready() bool {
	select {
	case <-r.started:
		return true
	default:
		return false
	}
}

// fail stores the error that prevents recording, and logs it once.
func (r *Recorder) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil && (r.problem == nil || r.problem.Error() != err.Error()) {
		r.opts.Logger.Warn("recorder: changes of other programs are not recorded", "err", err)
	}
	r.problem = err
}

// maxBatch limits the contents that are compared at a time and become one entry.
const maxBatch = 16 << 20

// record compares paths with the baseline and records the differences.
func (r *Recorder) record(ctx context.Context, files, trees []string, why string) (changed []string, err error) {
	r.openGit(ctx)
	for _, p := range files { // new and removed folders may be reported like files
		if e, had := r.base.get(p); had && e.typ == rootfs.TypeDir || r.disk.isFolder(p) {
			trees = append(trees, p)
		}
	}
	for _, tree := range outermost(trees) {
		found, err := r.sweep(ctx, tree)
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	entries, rest, err := r.later()
	if err != nil {
		return nil, err
	}
	m := r.newModel()
	m.replay(entries)
	for _, b := range m.found {
		if err := r.add(ctx, b.ops, nil, "", b.id, newest(entries)); err != nil {
			return nil, err
		}
		changed = appendPaths(changed, b.ops)
	}
	files = slices.AppendSeq(files, maps.Keys(m.cells))
	slices.Sort(files)
	files = slices.DeleteFunc(slices.Compact(files), func(p string) bool { return p == "" })
	c := &comparison{r: r, m: m, known: max(newest(entries), r.base.own), why: why}
	c.git(ctx)
	for len(files) > 0 {
		n, err := c.batch(ctx, files, rest)
		if err != nil {
			return changed, err
		}
		files = files[n:]
	}
	for _, e := range entries {
		if e.ID.Outside() {
			r.base.outside = max(r.base.outside, e.ID)
		} else {
			r.base.own = max(r.base.own, e.ID)
		}
	}
	r.base.outside = max(r.base.outside, r.recorded)
	r.Changed(c.again, nil)
	return append(changed, c.changed...), r.base.flush()
}

// outermost removes trees that are inside others.
func outermost(trees []string) (list []string) {
	slices.Sort(trees)
	for _, t := range trees {
		if !slices.ContainsFunc(list, func(in string) bool { return beneath(t, in) }) {
			list = append(list, t)
		}
	}
	return list
}

// later returns the journal entries that the baseline does not include. rest begins with
// the first one in progress, whose files can't be compared yet.
func (r *Recorder) later() (done, rest []journal.Entry, err error) {
	list, err := r.journal.Later(r.base.own, r.base.outside)
	n := slices.IndexFunc(list, func(e journal.Entry) bool { return e.Status == journal.Pending })
	if n < 0 {
		n = len(list)
	}
	return list[:n], list[n:], err
}

func newest(entries []journal.Entry) (id journal.ID) {
	for _, e := range entries {
		id = max(id, e.ID)
	}
	return id
}

func appendPaths(list []string, ops []journal.Op) []string {
	for _, op := range ops {
		if p := op.Path.String(); !slices.Contains(list[max(0, len(list)-1):], p) {
			list = append(list, p)
		}
	}
	return list
}

// add records operations, sorted so that they can be carried out in this order.
func (r *Recorder) add(ctx context.Context, ops []journal.Op, by *mark, text string, before, after journal.ID) error {
	if len(ops) == 0 {
		return nil
	}
	var gone, rest []journal.Op
	for _, op := range ops {
		if op.Kind == journal.Remove {
			gone = append(gone, op)
		} else {
			rest = append(rest, op)
		}
	}
	slices.Reverse(gone) // remove the contents of a folder before the folder
	c := journal.Change{Tool: Tool, Ops: append(gone, rest...)}
	c.Did = journal.Summarize(c.Ops, text)
	by.sign(&c)
	e, err := r.outside.Record(ctx, c, before, after)
	r.recorded = max(r.recorded, e.ID)
	return err
}

// Tool is the tool name of changes whose author is unknown.
const Tool = "outside"
