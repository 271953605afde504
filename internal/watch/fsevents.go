package watch

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

	"quarry/fault"
	"quarry/internal/rootfs"
)

// This file converts macOS events to changes. Only the system calls are in
// fsevents_darwin.go, so the tests run on every system, with a simulated event stream.
//
// One stream watches the root and a marker folder of our own. The kernel has one event
// queue for all volumes, and a daemon reads it in order. The daemon collects the events
// of a stream for some milliseconds and delivers them in any order. So a barrier creates
// a marker file and waits for its event: then the daemon has read all earlier events.
// Then the barrier makes the daemon deliver the events it has collected. If the marker's
// event is late, the root counts as unwatched for this answer; if that happens twice in a
// row, permanently.
type fsevents struct {
	folders
	sys  fsSystem
	in   *arrivals
	live fsStream // nil if nothing is watched

	failed error
	late   bool          // the last marker's event did not arrive in time
	wait   time.Duration // how long to wait for a marker's event
	prefix string        // prefix of paths of events in the root
	own    string        // prefix of paths of events in the marker folder
	mounts []rootfs.Path // volumes below the root, which must be swept

	events, lost uint64
}

// fsSystem has the system calls that the watcher needs.
type fsSystem interface {
	// open opens a stream for the root and the marker folder. It returns their paths as
	// spelled in events. It fails if events are unreliable here.
	open(in *arrivals) (s fsStream, root, own string, err error)
	// touch creates a marker file and returns a function that removes it.
	touch(name string) (remove func(), err error)
	// mounted returns the volumes below the root, and whether they have changed.
	mounted() (at []rootfs.Path, changed bool)
}

// fsStream is an open stream.
type fsStream interface {
	flush() // returns after all collected events were delivered
	close() // after close, nothing is delivered
}

// fsEvent is an event of a path. Its flags may combine several changes.
type fsEvent struct {
	path  string
	flags uint32
}

// Flags of events, from FSEvents.h.
const (
	fsMustScan      uint32 = 0x1  // compare everything below
	fsUserDropped   uint32 = 0x2  // events were lost in the daemon
	fsKernelDropped uint32 = 0x4  // events were lost in the kernel
	fsIDsWrapped    uint32 = 0x8  // event ids started again from zero
	fsHistoryDone   uint32 = 0x10 // not a change: the past events have been delivered
	fsRootChanged   uint32 = 0x20 // a watched folder or one of its parents was moved or replaced
	fsMount         uint32 = 0x40
	fsUnmount       uint32 = 0x80
	fsCreated       uint32 = 0x100
	fsRemoved       uint32 = 0x200
	fsInodeMeta     uint32 = 0x400
	fsRenamed       uint32 = 0x800
	fsModified      uint32 = 0x1000
	fsFinderInfo    uint32 = 0x2000
	fsOwner         uint32 = 0x4000
	fsXattr         uint32 = 0x8000
	fsIsFile        uint32 = 0x10000
	fsIsDir         uint32 = 0x20000
	fsCloned        uint32 = 0x400000

	fsNamed   = fsCreated | fsRemoved | fsRenamed | fsCloned
	fsTouched = fsModified | fsInodeMeta | fsFinderInfo | fsOwner | fsXattr
	fsGap     = fsUserDropped | fsKernelDropped | fsIDsWrapped | fsMount | fsUnmount
)

const (
	markerPrefix   = "events-"
	markerPatience = 2 * time.Second
	// maxArrived limits the events stored between two barriers, to about 10 MB.
	maxArrived = 1 << 16
)

var (
	errLate      = errors.New("FSEvents reported our marker file too late")
	errUnordered = errors.New("FSEvents reported our marker file before earlier files")
)

// arrivals stores events received on the system's thread.
type arrivals struct {
	signal func()

	mu     sync.Mutex
	own    string // prefix of paths in the marker folder
	events []fsEvent
	lost   bool                     // there were too many events
	marks  map[string]chan struct{} // by the name of a marker; closed when its event arrives
}

// deliver stores events. Their strings must be copies, because the system's memory is
// only valid during the callback.
func (a *arrivals) deliver(events []fsEvent) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, e := range events {
		if name, own := strings.CutPrefix(e.path, a.own); own && e.flags&fsNamed != 0 {
			if came, ok := a.marks[name]; ok {
				delete(a.marks, name)
				close(came)
				continue
			}
		}
		if len(a.events) >= maxArrived {
			a.events, a.lost = a.events[:0], true
		}
		a.events = append(a.events, e)
	}
	a.signal()
}

// expect returns a channel that is closed when the event of the marker called name
// arrives.
func (a *arrivals) expect(name string) <-chan struct{} {
	came := make(chan struct{})
	a.mu.Lock()
	defer a.mu.Unlock()
	a.marks[name] = came
	return came
}

// forget removes the channels of markers.
func (a *arrivals) forget(names ...string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, name := range names {
		delete(a.marks, name)
	}
}

func (a *arrivals) take() (events []fsEvent, lost bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	events, lost = a.events, a.lost
	a.events, a.lost = nil, false
	return events, lost
}

// begin opens the stream, checks that barriers work, and records the folders. If the
// stream can't be opened, it returns no error: the caller sweeps.
func (s *fsevents) begin(ctx context.Context) error {
	s.folders.known = map[string]bool{}
	s.in = &arrivals{signal: s.w.wakeUp, marks: map[string]chan struct{}{}}
	if s.w.opts.idle {
		s.in.signal = func() {}
	}
	s.failed, s.late = nil, false
	if s.live, s.prefix, s.own, s.failed = s.sys.open(s.in); s.failed != nil {
		s.live = nil
		return ctx.Err()
	}
	s.prefix, s.own = slashed(s.prefix), slashed(s.own)
	s.in.mu.Lock()
	s.in.own = s.own
	s.in.mu.Unlock()
	s.mounts, _ = s.sys.mounted()
	if err := s.prove(ctx); err != nil {
		s.end()
		s.failed = err
		return ctx.Err()
	}
	return s.learn(ctx, "")
}

func slashed(dir string) string { return strings.TrimSuffix(dir, "/") + "/" }

func (s *fsevents) end() {
	if s.live != nil {
		s.live.close()
		s.live = nil
	}
}

// restart watches the folder that is now at the root's path.
func (s *fsevents) restart(ctx context.Context) error {
	s.end()
	if err := s.begin(ctx); err != nil {
		return err
	}
	s.w.pending.all()
	s.w.pending.lost = true
	return nil
}

// markers counts the markers of all watchers in this process.
var markers atomic.Uint64

func markerName() string { return fmt.Sprintf("%s%d-%d", markerPrefix, os.Getpid(), markers.Add(1)) }

// sync creates a marker, waits for its event, and then for the delivery of collected
// events. late is set if the marker's event does not arrive in time.
func (s *fsevents) sync(ctx context.Context) (late bool, err error) {
	name := markerName()
	came := s.in.expect(name)
	defer s.in.forget(name)
	remove, err := s.sys.touch(name)
	if err != nil {
		return false, err
	}
	defer remove()
	timer := time.NewTimer(s.wait)
	defer timer.Stop()
	select {
	case <-came:
	case <-timer.C:
		return true, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
	s.live.flush()
	return false, nil
}

// prove checks that the events of some markers have arrived after a barrier. It also
// waits until the stream has started.
func (s *fsevents) prove(ctx context.Context) error {
	if err := s.inTime(ctx); err != nil {
		return err
	}
	var names []string
	var came []<-chan struct{}
	for range 3 {
		name := markerName()
		names, came = append(names, name), append(came, s.in.expect(name))
		remove, err := s.sys.touch(name)
		if err != nil {
			return err
		}
		defer remove()
	}
	defer s.in.forget(names...)
	if err := s.inTime(ctx); err != nil {
		return err
	}
	for _, c := range came {
		select {
		case <-c:
		default:
			return errUnordered
		}
	}
	return nil
}

func (s *fsevents) inTime(ctx context.Context) error {
	late, err := s.sync(ctx)
	if err == nil && late {
		err = errLate
	}
	return err
}

// drain is the barrier. It handles the events that have arrived even if the marker is
// late.
func (s *fsevents) drain(ctx context.Context) error {
	if s.live == nil {
		return nil
	}
	late, err := s.sync(ctx)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil: // no marker could be created, for example on a full disk
		late = true
	}
	if late && s.late {
		s.end()
		s.failed = errors.Join(errLate, err)
	}
	s.late = late
	events, lost := s.in.take()
	if lost {
		s.lost++
		if err := s.lose(ctx); err != nil {
			return err
		}
	}
	// Events arrive in any order. Sort a new folder before its entries: otherwise its
	// parent would be compared as a whole.
	slices.SortStableFunc(events, func(a, b fsEvent) int { return strings.Compare(a.path, b.path) })
	for i, e := range events {
		again, err := s.handle(ctx, e)
		if err != nil || again {
			s.events += uint64(i + 1)
			s.w.pending.all() // the remaining events are not delivered again
			if err == nil && s.failed == nil {
				return s.restart(ctx)
			}
			return err
		}
	}
	s.events += uint64(len(events))
	return nil
}

// handle handles an event. again is set if the stream must be reopened.
func (s *fsevents) handle(ctx context.Context, e fsEvent) (again bool, err error) {
	if e.flags&fsRootChanged != 0 {
		return true, nil
	}
	if e.flags&fsGap != 0 {
		s.lost++
		return false, s.lose(ctx)
	}
	if e.flags&fsHistoryDone != 0 {
		return false, nil
	}
	path, below := strings.CutPrefix(slashed(e.path), s.prefix)
	if strings.HasPrefix(slashed(e.path), s.own) && !below {
		return false, nil
	}
	if !below || path == "" && e.flags&fsMustScan != 0 {
		// The path is outside the root, or another spelling of it.
		s.lost++
		return false, s.lose(ctx)
	}
	path = strings.TrimSuffix(path, "/")
	if s.isMarker(e.path) {
		return false, nil
	}
	if e.flags&fsMustScan != 0 || e.flags&(fsNamed|fsTouched) == 0 {
		s.compare(ctx, path)
		return false, nil
	}
	s.changed(ctx, path, e.flags)
	return false, nil
}

// isMarker reports whether path is that of a marker. The marker folder may be below the
// root.
func (s *fsevents) isMarker(path string) bool {
	name, ok := strings.CutPrefix(path, s.own)
	return ok && strings.HasPrefix(name, markerPrefix) && !strings.Contains(name, "/")
}

// compare reports a folder as a tree.
func (s *fsevents) compare(ctx context.Context, path string) {
	if path == "" {
		s.w.pending.all()
		clear(s.known)
		s.learn(ctx, "")
		return
	}
	for _, file := range steeringBelow(path) {
		s.noteFile(file, Created|Removed)
	}
	if admitted, known := s.known[path]; !s.inside(path) || known && !admitted {
		return
	}
	s.w.pending.tree([]byte(path))
	s.noteFile(path, Created|Removed|Written|Changed) // the path may now be a file
	s.forget(path)
	if info, err := s.w.root.Stat(s.w.path(path)); err == nil && info.Type == rootfs.TypeDir && s.admits(parent(path), base(path)) {
		s.learn(ctx, path)
	}
}

// steeringBelow lists the files in a protected folder that determine which files are
// searched. If the folder is reported as a whole, they have no events of their own.
func steeringBelow(path string) []string {
	switch {
	case base(path) == ".git":
		return []string{path + "/info/exclude"}
	case base(path) == "info" && base(parent(path)) == ".git":
		return []string{path + "/exclude"}
	}
	return nil
}

// changed handles the events of a path. Since flags are combined, only the file's present
// state tells which event was last.
func (s *fsevents) changed(ctx context.Context, path string, flags uint32) {
	if path == "" {
		return // only the root's times changed: changes in it have their own events
	}
	_, err := s.w.root.Stat(s.w.path(path))
	gone := rootfs.KindOf(err) == fault.NotFound
	var op Op
	if flags&fsTouched != 0 {
		op |= Written | Changed
	}
	switch named := flags&fsNamed != 0; {
	case named && gone:
		op |= Removed
		// Created, written and removed: the content may now be under another name.
		s.w.pending.passed = s.w.pending.passed || flags&(fsCreated|fsRenamed) != 0 && flags&fsModified != 0
	case named:
		op |= Created | over
	case gone:
		op |= Removed
	}
	s.happened(ctx, path, op)
}

// remounted reports volumes that were mounted or unmounted below the root.
func (s *fsevents) remounted(ctx context.Context) error {
	if s.live == nil {
		return ctx.Err()
	}
	at, changed := s.sys.mounted()
	if !changed {
		return ctx.Err()
	}
	s.mounts = at
	return s.lose(ctx)
}

// unwatched returns the root if it is not watched, and otherwise the volumes below it,
// which may be network drives.
func (s *fsevents) unwatched() []rootfs.Path {
	if s.live == nil || s.late {
		return []rootfs.Path{{}}
	}
	return s.mounts
}

func (s *fsevents) status() Status {
	st := Status{Unwatched: len(s.unwatched()), Events: s.events, Lost: s.lost, Reason: s.failed}
	if s.live != nil {
		st.Watches = 1
	}
	return st
}
