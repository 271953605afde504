//go:build fsevents && !portable

package watch

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"

	"quarry/internal/rootfs"
)

// One stream of FSEvents watches the tree and, beside it, a folder of our own.
// The kernel has one queue for all folders, so a barrier makes a file in that
// folder and waits for its event: what happened before has come by then. If it
// doesn't come in time, the root counts as unwatched for this answer.
//
// Built with the tag fsevents only: nobody has run the freshness test on a Mac
// yet (make test-here). Without it answers rest on sweeps.
type system struct {
	folders
	asked []string

	stream, queue uintptr
	id            uintptr // of this watcher, for the callback
	prefix        string  // of the root's paths
	markers       string  // of the markers' paths
	marks         *rootfs.Root
	number        uint64
	failed        error
	late          bool // the last marker did not come
	events, lost  uint64

	in     sync.Mutex // guards what the callback brings
	came   []told
	marker string
	seen   chan struct{}
}

// told is one event: a path, and flags that may stand for several things that
// happened to it.
type told struct {
	path  string
	flags uint32
}

// Flags of FSEvents.
const (
	flagMustScan   = 0x1
	flagDropped    = 0x2 | 0x4
	flagRoot       = 0x20
	flagMount      = 0x40 | 0x80
	flagCreated    = 0x100
	flagRemoved    = 0x200
	flagMeta       = 0x400
	flagRenamed    = 0x800
	flagModified   = 0x1000
	flagOtherMeta  = 0x2000 | 0x4000 | 0x8000
	sinceNow       = ^uint64(0)
	createFlags    = 0x2 | 0x4 | 0x10 // no defer, watch the root, tell of files
	encodingUTF8   = 0x08000100
	streamLatency  = 0.01
	markerPatience = 2 * time.Second
)

// library is what we call of the system's frameworks.
type library struct {
	stringCreate  func(alloc uintptr, s string, encoding uint32) uintptr
	arrayCreate   func(alloc uintptr, values *uintptr, n int, callbacks uintptr) uintptr
	release       func(ref uintptr)
	streamCreate  func(alloc, callback uintptr, context unsafe.Pointer, paths uintptr, since uint64, latency float64, flags uint32) uintptr
	streamQueue   func(stream, queue uintptr)
	streamStart   func(stream uintptr) bool
	streamFlush   func(stream uintptr)
	streamStop    func(stream uintptr)
	streamInvalid func(stream uintptr)
	streamRelease func(stream uintptr)
	queueCreate   func(label string, attr uintptr) uintptr
	queueRelease  func(queue uintptr)
	typeCallbacks uintptr
	callback      uintptr
}

var frameworks = sync.OnceValues(func() (l *library, err error) {
	defer func() {
		if p := recover(); p != nil { // purego's way to say that a symbol is missing
			err = fmt.Errorf("FSEvents: %v", p)
		}
	}()
	services, err := purego.Dlopen("/System/Library/Frameworks/CoreServices.framework/CoreServices", purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return nil, err
	}
	system, err := purego.Dlopen("/usr/lib/libSystem.B.dylib", purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return nil, err
	}
	l = &library{}
	for name, f := range map[string]any{
		"CFStringCreateWithCString": &l.stringCreate, "CFArrayCreate": &l.arrayCreate, "CFRelease": &l.release,
		"FSEventStreamCreate": &l.streamCreate, "FSEventStreamSetDispatchQueue": &l.streamQueue, "FSEventStreamStart": &l.streamStart,
		"FSEventStreamFlushSync": &l.streamFlush, "FSEventStreamStop": &l.streamStop, "FSEventStreamInvalidate": &l.streamInvalid,
		"FSEventStreamRelease": &l.streamRelease,
	} {
		purego.RegisterLibFunc(f, services, name)
	}
	purego.RegisterLibFunc(&l.queueCreate, system, "dispatch_queue_create")
	purego.RegisterLibFunc(&l.queueRelease, system, "dispatch_release")
	if l.typeCallbacks, err = purego.Dlsym(services, "kCFTypeArrayCallBacks"); err != nil {
		return nil, err
	}
	l.callback = purego.NewCallback(arrived)
	return l, nil
})

// Watchers by number: the callback gets a number, never a pointer of ours.
var (
	watchers   sync.Map
	lastNumber atomic.Uintptr
)

// arrived is called by the system, on a thread of its own.
func arrived(_, info uintptr, n int, paths **byte, flags *uint32, _ uintptr) {
	v, ok := watchers.Load(info)
	if !ok {
		return
	}
	s := v.(*Watcher)
	names, bits := unsafe.Slice(paths, n), unsafe.Slice(flags, n)
	s.system.in.Lock()
	defer s.system.in.Unlock()
	for i := range n {
		e := told{text(names[i]), bits[i]}
		if e.path == s.system.marker {
			s.system.marker = ""
			close(s.system.seen)
			continue
		}
		s.system.came = append(s.system.came, e)
	}
	s.signal()
}

// text copies a C string.
func text(p *byte) string {
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n))
}

var errNoMarker = errors.New("no folder of our own to tell that events have come")

func (w *Watcher) start(ctx context.Context) error {
	s := &w.system
	s.known = map[string]bool{}
	if w.opts.Marks == nil {
		s.failed = errNoMarker
		return ctx.Err()
	}
	s.marks = w.opts.Marks
	s.prefix, s.markers = w.root.RealDir()+"/", s.marks.RealDir()+"/"
	if err := w.begin(); err != nil {
		s.failed = err
		return ctx.Err()
	}
	return w.learn(ctx, "")
}

func (w *Watcher) begin() error {
	l, err := frameworks()
	if err != nil {
		return err
	}
	s := &w.system
	values := []uintptr{l.stringCreate(0, w.root.RealDir(), encodingUTF8), l.stringCreate(0, s.marks.RealDir(), encodingUTF8)}
	defer l.release(values[0])
	defer l.release(values[1])
	paths := l.arrayCreate(0, &values[0], len(values), l.typeCallbacks)
	defer l.release(paths)
	s.id = lastNumber.Add(1)
	watchers.Store(s.id, w)
	// FSEventStreamContext: version, info, retain, release, description.
	context := [5]uintptr{1: s.id}
	s.stream = l.streamCreate(0, l.callback, unsafe.Pointer(&context), paths, sinceNow, streamLatency, createFlags)
	if s.stream == 0 {
		watchers.Delete(s.id)
		return errors.New("FSEvents refused to watch the folder")
	}
	s.queue = l.queueCreate("quarry.watch", 0)
	l.streamQueue(s.stream, s.queue)
	if !l.streamStart(s.stream) {
		w.end(l)
		return errors.New("FSEvents did not start")
	}
	return nil
}

func (w *Watcher) end(l *library) {
	s := &w.system
	if s.stream == 0 {
		return
	}
	l.streamStop(s.stream)
	l.streamInvalid(s.stream)
	l.streamRelease(s.stream)
	l.queueRelease(s.queue)
	watchers.Delete(s.id)
	s.stream = 0
}

// drain makes a marker, waits for its event, and takes what came.
func (w *Watcher) drain(ctx context.Context) error {
	s := &w.system
	if s.failed != nil {
		return nil
	}
	l, err := frameworks()
	if err != nil {
		return err
	}
	s.number++
	name := fmt.Sprintf("events-%d-%d", s.id, s.number)
	at, err := s.marks.Known(name)
	if err != nil {
		return err
	}
	seen := make(chan struct{})
	s.in.Lock()
	s.marker, s.seen = s.markers+name, seen
	s.in.Unlock()
	if _, _, err := s.marks.Create(at, nil, nil); err != nil {
		return err
	}
	defer s.marks.Remove(at)
	l.streamFlush(s.stream) // doesn't wait for the latency
	timer := time.NewTimer(markerPatience)
	defer timer.Stop()
	s.late = false
	select {
	case <-seen:
	case <-timer.C:
		s.late = true
	case <-ctx.Done():
		return ctx.Err()
	}
	s.in.Lock()
	came := s.came
	s.came, s.marker = nil, ""
	s.in.Unlock()
	for _, e := range came {
		if err := w.one(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// one takes an event.
func (w *Watcher) one(ctx context.Context, e told) error {
	s := &w.system
	s.events++
	if e.flags&(flagDropped|flagRoot|flagMount) != 0 {
		s.lost++
		return w.lose(ctx)
	}
	path, ok := strings.CutPrefix(e.path, s.prefix)
	if !ok {
		if e.path+"/" == s.prefix && e.flags&flagMustScan != 0 {
			return w.lose(ctx)
		}
		return nil
	}
	path = strings.TrimSuffix(path, "/")
	if e.flags&flagMustScan != 0 {
		w.pending.tree([]byte(path))
		w.forget(path)
		return w.learn(ctx, path)
	}
	_, err := w.root.Stat(w.path(path))
	gone := rootfs.KindOf(err) == rootfs.NotFound
	var op Op
	if e.flags&(flagModified|flagMeta|flagOtherMeta) != 0 {
		op |= Written | Changed
	}
	// Flags add up: which of them came last only a look can tell.
	switch named := e.flags&(flagCreated|flagRemoved|flagRenamed) != 0; {
	case named && gone:
		op |= Removed
		w.pending.passed = w.pending.passed || e.flags&(flagCreated|flagRenamed) != 0 && e.flags&flagModified != 0
	case named:
		op |= Created | over
	case gone:
		op |= Removed
	}
	if op != 0 {
		w.happened(ctx, path, op)
	}
	return nil
}

func (w *Watcher) remounted(ctx context.Context) error { return ctx.Err() }

func (w *Watcher) stop() error {
	l, err := frameworks()
	if err != nil {
		return nil // nothing was started
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.end(l)
	return nil
}

func (w *Watcher) unwatched() []rootfs.Path {
	if w.system.failed != nil || w.system.late {
		return []rootfs.Path{{}}
	}
	return nil
}

func (w *Watcher) status() Status {
	s := &w.system
	st := Status{Unwatched: len(w.unwatched()), Events: s.events, Lost: s.lost, Reason: s.failed}
	if s.failed == nil {
		st.Watches = 1
	}
	return st
}
