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

// This file turns the events of macOS into changes. Only the system calls are in
// fsevents_darwin.go, so that its tests run on every system, with a stream that behaves like
// the one of macOS.
//
// One stream watches the root and, beside it, a folder of our own. The kernel has one queue for all volumes,
// which a daemon empties in order. It collects events of a stream for some milliseconds, and within these the
// order is not kept. So a barrier makes a file in our folder and waits for its event: the daemon knows all
// earlier changes then. After that it asks the daemon to deliver the events it still holds back. If the event
// doesn't come in time, the root counts as unwatched for this answer; if that happens twice in a row, for
// good.
type fsevents struct {
	folders
	sys  fsSystem
	in   *arrivals
	live fsStream // nil: no folder is watched

	failed error
	late   bool          // the last marker did not arrive
	wait   time.Duration // for a marker's event
	prefix string        // of the paths of the root's events
	own    string        // of the paths in our own folder
	mounts []rootfs.Path // volumes below the root, which are swept

	events, lost uint64
}

// fsSystem is the part of the system that the watcher needs.
type fsSystem interface {
	// open begins a stream for the root and our own folder. It returns the paths
	// of both as events spell them. It fails if events can't be trusted here.
	open(in *arrivals) (s fsStream, root, own string, err error)
	// touch makes a file in our own folder and returns a function that removes it.
	touch(name string) (remove func(), err error)
	// mounted lists the volumes below the root, and whether that changed.
	mounted() (at []rootfs.Path, changed bool)
}

// fsStream is an open stream.
type fsStream interface {
	flush() // returns after everything held back was delivered
	close() // nothing is delivered afterwards
}

// fsEvent is one event: a path, and flags that may combine several events there.
type fsEvent struct {
	path  string
	flags uint32
}

// Flags of an event, as FSEvents.h has them.
const (
	fsMustScan      uint32 = 0x1  // compare everything below
	fsUserDropped   uint32 = 0x2  // events were lost in the daemon
	fsKernelDropped uint32 = 0x4  // or in the kernel
	fsIDsWrapped    uint32 = 0x8  // numbers of events began anew
	fsHistoryDone   uint32 = 0x10 // not a change: past events were delivered
	fsRootChanged   uint32 = 0x20 // a folder on the way to a watched one, or itself
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
	// maxArrived bounds the events kept between two barriers: about 10 MB.
	maxArrived = 1 << 16
)

var (
	errLate      = errors.New("FSEvents did not tell of a file of our own in time")
	errUnordered = errors.New("FSEvents told of a file of our own before it told of earlier ones")
)

// arrivals receives events from the system's thread.
type arrivals struct {
	signal func()

	mu     sync.Mutex
	own    string // of the paths in our own folder
	events []fsEvent
	lost   bool                     // more events than fit
	marks  map[string]chan struct{} // by name: closed when its event comes
}

// deliver records events. The strings must be copies: the system's own memory is valid
// only during its call.
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

// expect returns a channel that is closed when the event of one of our own files arrives.
func (a *arrivals) expect(name string) <-chan struct{} {
	came := make(chan struct{})
	a.mu.Lock()
	defer a.mu.Unlock()
	a.marks[name] = came
	return came
}

// forget gives up waiting for names.
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

// begin opens the stream, checks that its barrier works, and lists the folders.
// Without a stream the caller sweeps; that is not an error.
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

// markers counts our own files, over all watchers of this process.
var markers atomic.Uint64

func markerName() string { return fmt.Sprintf("%s%d-%d", markerPrefix, os.Getpid(), markers.Add(1)) }

// sync makes a file of our own and waits for its event, then for events that are held back. late is true if
// the event is not in time.
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

// prove makes files of our own and then a barrier, after which their events must have
// arrived. It also waits until the stream has started.
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

// drain is the barrier. Arrived events are handled even if the marker is late.
func (s *fsevents) drain(ctx context.Context) error {
	if s.live == nil {
		return nil
	}
	late, err := s.sync(ctx)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil: // no marker can be made: the disk may be full
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
	// Their order has no meaning. A new folder must be handled before its entries, or the
	// folder above would be compared as a whole.
	slices.SortStableFunc(events, func(a, b fsEvent) int { return strings.Compare(a.path, b.path) })
	for i, e := range events {
		again, err := s.one(ctx, e)
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

// one handles an event. again means that the stream has to be opened again.
func (s *fsevents) one(ctx context.Context, e fsEvent) (again bool, err error) {
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
		// A path outside of the root: it may be another spelling of the root.
		s.lost++
		return false, s.lose(ctx)
	}
	path = strings.TrimSuffix(path, "/")
	if s.ours(e.path) {
		return false, nil
	}
	if e.flags&fsMustScan != 0 || e.flags&(fsNamed|fsTouched) == 0 {
		s.compare(ctx, path)
		return false, nil
	}
	s.changed(ctx, path, e.flags)
	return false, nil
}

// ours reports whether a path belongs to a marker, in a folder below the root.
func (s *fsevents) ours(path string) bool {
	name, ok := strings.CutPrefix(path, s.own)
	return ok && strings.HasPrefix(name, markerPrefix) && !strings.Contains(name, "/")
}

// compare reports a folder with all its contents.
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
	s.noteFile(path, Created|Removed|Written|Changed) // a file may be there instead
	s.forget(path)
	if info, err := s.w.root.Stat(s.w.path(path)); err == nil && info.Type == rootfs.TypeDir && s.admits(parent(path), base(path)) {
		s.learn(ctx, path)
	}
}

// steeringBelow lists the files in a protected folder that decide which files belong to a search: they have
// no events if the folder is reported as a whole.
func steeringBelow(path string) []string {
	switch {
	case base(path) == ".git":
		return []string{path + "/info/exclude"}
	case base(path) == "info" && base(parent(path)) == ".git":
		return []string{path + "/exclude"}
	}
	return nil
}

// changed handles the events of a path. Flags are combined; only looking at the file tells which event was the
// last.
func (s *fsevents) changed(ctx context.Context, path string, flags uint32) {
	if path == "" {
		return // the root's own times: changes in it have events of their own
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
		// Created, written and removed in one event: its content may now be under another name.
		s.w.pending.passed = s.w.pending.passed || flags&(fsCreated|fsRenamed) != 0 && flags&fsModified != 0
	case named:
		op |= Created | over
	case gone:
		op |= Removed
	}
	s.happened(ctx, path, op)
}

// remounted looks for volumes that came or went below the root.
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

// unwatched is the root, or the volumes below it: they may be network drives.
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
