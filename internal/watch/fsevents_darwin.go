//go:build !portable

package watch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/ebitengine/purego"

	"quarry/internal/rootfs"
	"quarry/internal/rootfs/mounts"
)

// The watcher of macOS: fsevents.go over the system's framework, which is loaded at run time
// and without cgo. If loading fails, answers depend on sweeps.
type system struct{ fsevents }

func (w *Watcher) start(ctx context.Context) error {
	w.system.fsevents = fsevents{folders: folders{w: w}, sys: &mac{root: w.root, marks: w.opts.Marks, volumes: mounts.Of(w.root)}, wait: markerPatience}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.system.begin(ctx)
}

func (w *Watcher) stop() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.system.end()
	return nil
}

func (w *Watcher) drain(ctx context.Context) error     { return w.system.drain(ctx) }
func (w *Watcher) remounted(ctx context.Context) error { return w.system.remounted(ctx) }
func (w *Watcher) restarted(ctx context.Context) error { return w.system.restart(ctx) }
func (w *Watcher) rescan(dir rootfs.Path)              { w.system.rescan(dir) }
func (w *Watcher) settle(ctx context.Context) error    { return w.system.settle(ctx) }
func (w *Watcher) unwatched() []rootfs.Path            { return w.system.unwatched() }
func (w *Watcher) status() Status                      { return w.system.status() }
func (w *Watcher) endRenames()                         {}
func (w *Watcher) unmark()                             {}

// swept does nothing, because Options.Passed is not called on macOS: the next barrier
// reports the root.
func (w *Watcher) swept(func(dir string) bool) error { return nil }

// mac makes the system calls.
type mac struct {
	root, marks *rootfs.Root
	volumes     *mounts.Mounts
}

func (m *mac) touch(name string) (remove func(), err error) { return m.marks.Touch(name) }

func (m *mac) mounted() (at []rootfs.Path, changed bool) {
	changed = len(m.volumes.Poll()) > 0
	for _, v := range m.volumes.Below() {
		at = append(at, v.At)
	}
	return outermost(at), changed
}

// Values of FSEvents.h and CFString.h.
const (
	sinceNow      = ^uint64(0)
	createNoDefer = 0x2  // deliver the first event of a burst at once
	createRoot    = 0x4  // report changes of parents of the folders
	createFiles   = 0x10 // report files, not only their folders
	encodingUTF8  = 0x08000100
	// streamLatency, in seconds, is how long events of a burst are collected. A barrier takes
	// up to twice as long.
	streamLatency = 0.005
)

var errNoMarker = errors.New("no folder for marker files")

func (m *mac) open(in *arrivals) (_ fsStream, root, own string, err error) {
	if m.marks == nil {
		return nil, "", "", errNoMarker
	}
	if m.root.FSKind() != rootfs.FSLocal || m.marks.FSKind() != rootfs.FSLocal {
		return nil, "", "", ErrForeign
	}
	if root, err = m.root.TruePath(); err != nil {
		return nil, "", "", err
	}
	if own, err = m.marks.TruePath(); err != nil {
		return nil, "", "", err
	}
	s, err := openStream(in, root, own)
	if err != nil {
		return nil, "", "", err
	}
	// The stream is opened by path. The path must lead to the folder that is open.
	if err := errors.Join(m.root.InPlace(), m.marks.InPlace()); err != nil {
		s.close()
		return nil, "", "", err
	}
	return s, root, own, nil
}

// library has the functions we call in the system's frameworks. Types follow the C headers: CFIndex is long,
// Boolean is unsigned char, CFTimeInterval is double, flags are UInt32, event ids UInt64; references are
// pointers that we never follow.
type library struct {
	stringCreate  func(alloc uintptr, s string, encoding uint32) uintptr
	arrayCreate   func(alloc uintptr, values *uintptr, n int, callbacks uintptr) uintptr
	release       func(ref uintptr)
	streamCreate  func(alloc, callback uintptr, context *streamContext, paths uintptr, since uint64, latency float64, flags uint32) uintptr
	streamQueue   func(stream, queue uintptr)
	streamStart   func(stream uintptr) bool
	streamFlush   func(stream uintptr)
	streamStop    func(stream uintptr)
	streamInvalid func(stream uintptr)
	streamRelease func(stream uintptr)
	queueCreate   func(label string, attr uintptr) uintptr
	queueRelease  func(queue uintptr)
	typeCallbacks uintptr // address of kCFTypeArrayCallBacks
	callback      uintptr
}

// streamContext is FSEventStreamContext. The system copies it.
type streamContext struct {
	_    int // version: 0
	info uintptr
	_    [3]uintptr // functions that retain, release and describe info: none
}

var frameworks = sync.OnceValues(func() (l *library, err error) {
	defer func() {
		if p := recover(); p != nil { // purego panics if a symbol is missing
			l, err = nil, fmt.Errorf("FSEvents: %v", p)
		}
	}()
	services, err := purego.Dlopen("/System/Library/Frameworks/CoreServices.framework/CoreServices", purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return nil, err
	}
	foundation, err := purego.Dlopen("/System/Library/Frameworks/CoreFoundation.framework/CoreFoundation", purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return nil, err
	}
	system, err := purego.Dlopen("/usr/lib/libSystem.B.dylib", purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return nil, err
	}
	l = &library{}
	for _, f := range []struct {
		in   uintptr
		name string
		to   any
	}{
		{foundation, "CFStringCreateWithCString", &l.stringCreate},
		{foundation, "CFArrayCreate", &l.arrayCreate},
		{foundation, "CFRelease", &l.release},
		{services, "FSEventStreamCreate", &l.streamCreate},
		{services, "FSEventStreamSetDispatchQueue", &l.streamQueue},
		{services, "FSEventStreamStart", &l.streamStart},
		{services, "FSEventStreamFlushSync", &l.streamFlush},
		{services, "FSEventStreamStop", &l.streamStop},
		{services, "FSEventStreamInvalidate", &l.streamInvalid},
		{services, "FSEventStreamRelease", &l.streamRelease},
		{system, "dispatch_queue_create", &l.queueCreate},
		{system, "dispatch_release", &l.queueRelease},
	} {
		purego.RegisterLibFunc(f.to, f.in, f.name)
	}
	if l.typeCallbacks, err = purego.Dlsym(foundation, "kCFTypeArrayCallBacks"); err != nil {
		return nil, err
	}
	l.callback = purego.NewCallback(arrived) // one for all streams: it is never freed
	return l, nil
})

// Streams by number: the callback gets a number, not a Go pointer. If the stream has ended
// meanwhile, the callback does nothing.
var (
	streams    sync.Map // of *arrivals
	lastStream atomic.Uintptr
)

// arrived is FSEventStreamCallback. The system calls it on a thread of the stream's queue;
// paths, flags and ids are valid only during the call.
func arrived(_, info uintptr, n int, paths **byte, flags *uint32, _ *uint64) {
	v, ok := streams.Load(info)
	if !ok || n <= 0 {
		return
	}
	names, bits := unsafe.Slice(paths, n), unsafe.Slice(flags, n)
	events := make([]fsEvent, n)
	for i := range events {
		events[i] = fsEvent{copyText(names[i]), bits[i]}
	}
	v.(*arrivals).deliver(events)
}

// copyText copies a C string.
func copyText(p *byte) string {
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n))
}

// stream is an FSEventStreamRef on a serial queue of its own.
type stream struct {
	l          *library
	ref, queue uintptr
	id         uintptr
}

func openStream(in *arrivals, folders ...string) (*stream, error) {
	l, err := frameworks()
	if err != nil {
		return nil, err
	}
	values := make([]uintptr, len(folders))
	for i, dir := range folders {
		if values[i] = l.stringCreate(0, dir, encodingUTF8); values[i] == 0 {
			return nil, fmt.Errorf("%q is not a path FSEvents can watch", dir)
		}
		defer l.release(values[i]) // the array has its own reference
	}
	paths := l.arrayCreate(0, &values[0], len(values), l.typeCallbacks)
	if paths == 0 {
		return nil, errors.New("FSEvents: out of memory")
	}
	defer l.release(paths)
	s := &stream{l: l, id: lastStream.Add(1)}
	streams.Store(s.id, in)
	s.ref = l.streamCreate(0, l.callback, &streamContext{info: s.id}, paths, sinceNow, streamLatency, createNoDefer|createRoot|createFiles)
	if s.ref == 0 {
		streams.Delete(s.id)
		return nil, errors.New("FSEvents refused to watch the folder")
	}
	s.queue = l.queueCreate("quarry.watch", 0)
	l.streamQueue(s.ref, s.queue)
	if !l.streamStart(s.ref) {
		s.drop() // a stream that did not start must not be stopped
		return nil, errors.New("FSEvents did not start")
	}
	return s, nil
}

// flush waits for the callback, which runs on another thread and takes no lock that a caller
// holds. It must be called only after the first event: before that the system complains on
// standard error.
func (s *stream) flush() { s.l.streamFlush(s.ref) }

func (s *stream) close() {
	s.l.streamStop(s.ref)
	s.drop()
}

func (s *stream) drop() {
	s.l.streamInvalid(s.ref)
	s.l.streamRelease(s.ref)
	s.l.queueRelease(s.queue)
	streams.Delete(s.id)
}
