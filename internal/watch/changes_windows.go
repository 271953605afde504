//go:build !portable

package watch

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"

	"quarry/fault"
	"quarry/internal/rootfs"
)

// One handle watches the whole tree. The file system adds a change to the handle's queue
// during the call that makes it. A barrier empties the queue by cancelling the pending
// read. If the read already has a result, the cancellation has no effect and the result
// is used; if not, the queue was empty. The system keeps events between two reads, so
// cancelling loses nothing. No marker file and no timer is needed.
//
// Writes to an open file are reported when the program flushes or closes it. Until then a
// listing of the folder doesn't show them either.
type system struct {
	folders

	handle  windows.Handle
	event   windows.Handle // set when a read has ended
	quit    windows.Handle
	read    *windows.Overlapped
	buf     []byte
	reading bool

	done      sync.WaitGroup
	listening bool  // background is running
	failed    error // why nothing is watched; nil if the root is watched
	moved     bool  // a folder was renamed: see rearm
	events    uint64
	lost      uint64
}

// bufferSize is the size of the system's buffer for events between two reads. 256 KiB
// hold some thousand changes. The buffer is in memory that is never paged out.
const bufferSize = 256 << 10

const filter = windows.FILE_NOTIFY_CHANGE_FILE_NAME | windows.FILE_NOTIFY_CHANGE_DIR_NAME | windows.FILE_NOTIFY_CHANGE_ATTRIBUTES |
	windows.FILE_NOTIFY_CHANGE_SIZE | windows.FILE_NOTIFY_CHANGE_LAST_WRITE | windows.FILE_NOTIFY_CHANGE_CREATION

func (w *Watcher) start(ctx context.Context) error {
	s := &w.system
	s.folders = folders{w: w, known: map[string]bool{}}
	if w.root.FSKind() != rootfs.FSLocal {
		s.failed = ErrForeign
		return ctx.Err()
	}
	if err := w.begin(); err != nil {
		s.failed = fmt.Errorf("the system refused to watch the folder: %w", err)
		return ctx.Err()
	}
	// Folders created during the listing are reported by events.
	if err := s.learn(ctx, ""); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.listen()
	return nil
}

// listen starts reading events between barriers, unless it has already started. The
// caller holds w.mu.
func (w *Watcher) listen() {
	if s := &w.system; !w.opts.idle && !s.listening {
		s.listening = true
		s.done.Go(w.background)
	}
}

// begin opens the folder and starts the first read.
func (w *Watcher) begin() (err error) {
	s := &w.system
	if s.event == 0 {
		if s.event, err = windows.CreateEvent(nil, 1, 0, nil); err != nil {
			return err
		}
		if s.quit, err = windows.CreateEvent(nil, 1, 0, nil); err != nil {
			return err
		}
		s.buf = make([]byte, bufferSize)
	}
	path, err := windows.UTF16PtrFromString(w.root.RealDir())
	if err != nil {
		return err
	}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	s.handle, err = windows.CreateFile(path, windows.FILE_LIST_DIRECTORY, share, nil, windows.OPEN_EXISTING,
		windows.FILE_FLAG_BACKUP_SEMANTICS|windows.FILE_FLAG_OVERLAPPED, 0)
	if err != nil {
		s.handle = 0
		return err
	}
	if err := w.root.InPlace(); err != nil {
		return err
	}
	return s.ask()
}

// ask starts an asynchronous read.
func (s *system) ask() error {
	windows.ResetEvent(s.event)
	s.read = &windows.Overlapped{HEvent: s.event}
	err := windows.ReadDirectoryChanges(s.handle, &s.buf[0], uint32(len(s.buf)), true, filter, nil, s.read, 0)
	s.reading = err == nil || errors.Is(err, windows.ERROR_IO_PENDING)
	if s.reading {
		return nil
	}
	return err
}

// result returns the result of the read. none is set if the read has no result yet.
func (s *system) result(wait bool) (block []byte, none, lost bool, err error) {
	var n uint32
	err = windows.GetOverlappedResult(s.handle, s.read, &n, wait)
	switch {
	case err == windows.ERROR_IO_INCOMPLETE:
		return nil, true, false, nil
	case err == windows.ERROR_OPERATION_ABORTED:
		s.reading = false
		return nil, true, false, nil
	case err == windows.ERROR_NOTIFY_ENUM_DIR:
		s.reading = false
		return nil, false, true, nil
	case err != nil:
		s.reading = false
		return nil, false, false, err
	}
	s.reading = false
	return s.buf[:n], false, n == 0, nil
}

// drain empties the queue. It requires the queue to be empty twice in a row, because
// under Wine another process reports the events, and it may answer before it has seen
// earlier changes. No test has shown that the second read is needed.
func (w *Watcher) drain(ctx context.Context) error {
	s := &w.system
	for empty := 0; empty < 2 && s.failed == nil; {
		if err := ctx.Err(); err != nil {
			return err
		}
		if s.reading {
			windows.CancelIoEx(s.handle, s.read) // has no effect if the read has ended
		}
		none, err := w.takeOne(ctx, true)
		if err != nil {
			return err
		}
		if empty++; !none {
			empty = 0
		}
	}
	return nil
}

// takeOne handles the result of one read and starts the next.
func (w *Watcher) takeOne(ctx context.Context, wait bool) (empty bool, err error) {
	s := &w.system
	if !s.reading {
		return true, w.fail(ctx, s.ask())
	}
	block, none, lost, err := s.result(wait)
	if err != nil {
		return true, w.fail(ctx, err)
	}
	if lost {
		s.lost++
		if err := s.lose(ctx); err != nil {
			return false, err
		}
	}
	w.parse(ctx, block)
	if s.moved {
		s.moved = false
		return false, w.rearm(ctx)
	}
	if s.reading {
		return true, nil
	}
	return none, w.fail(ctx, s.ask())
}

var underWine = sync.OnceValue(func() bool {
	return windows.NewLazySystemDLL("ntdll.dll").NewProc("wine_get_version").Find() == nil
})

// restarted watches the folder that replaced the root.
func (w *Watcher) restarted(ctx context.Context) error {
	s := &w.system
	if w.root.FSKind() != rootfs.FSLocal {
		s.end()
		return w.fail(ctx, ErrForeign)
	}
	s.failed = nil
	if err := w.rearm(ctx); err != nil || s.failed != nil {
		return err
	}
	w.listen()
	return nil
}

// rearm stops and restarts watching. Under Wine this is needed after each move of a
// folder: Wine continues to report changes in the moved folder under its old name, and
// only watches folders that have been opened (8.0, server/change.c). Closing the handle
// resets this, and the following listing opens every folder.
func (w *Watcher) rearm(ctx context.Context) error {
	s := &w.system
	s.end()
	if err := w.begin(); err != nil {
		return w.fail(ctx, err)
	}
	return s.lose(ctx)
}

// fail stops watching. From then on, the caller sweeps.
func (w *Watcher) fail(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	w.system.failed = fmt.Errorf("watching the folder failed: %w", err)
	w.pending.all()
	return ctx.Err()
}

// parse reads FILE_NOTIFY_INFORMATION: the offset of the next one, the event, the length of the name in
// bytes, the name relative to the root.
func (w *Watcher) parse(ctx context.Context, block []byte) {
	for len(block) >= 12 {
		e := (*windows.FileNotifyInformation)(unsafe.Pointer(&block[0]))
		if int(e.FileNameLength) > len(block)-12 {
			return
		}
		name := syscall.UTF16ToString(unsafe.Slice(&e.FileName, e.FileNameLength/2))
		w.system.events++
		path := strings.ReplaceAll(name, `\`, "/")
		_, was := w.system.known[path]
		w.named(ctx, path, opOf(e.Action))
		if e.Action == windows.FILE_ACTION_RENAMED_OLD_NAME || e.Action == windows.FILE_ACTION_RENAMED_NEW_NAME {
			_, is := w.system.known[path]
			w.system.moved = w.system.moved || (was || is) && underWine()
		}
		if e.NextEntryOffset == 0 || int(e.NextEntryOffset) > len(block) {
			return
		}
		block = block[e.NextEntryOffset:]
	}
}

// named converts the path of an event to its long form, because the system may report the
// short one.
func (w *Watcher) named(ctx context.Context, path string, op Op) {
	if strings.Contains(path, "~") {
		p, err := w.root.ResolveEntry(path)
		switch {
		case err == nil:
			path = p.String()
		case rootfs.KindOf(err) != fault.ProtectedPath:
			w.pending.tree([]byte(parent(path)))
		}
	}
	w.system.happened(ctx, path, op)
}

func opOf(action uint32) Op {
	switch action {
	case windows.FILE_ACTION_ADDED:
		return Created
	case windows.FILE_ACTION_REMOVED, windows.FILE_ACTION_RENAMED_OLD_NAME:
		return Removed
	case windows.FILE_ACTION_RENAMED_NEW_NAME:
		return Created | over
	}
	return Written | Changed
}

// background reads the queue between barriers, so that it does not overflow.
func (w *Watcher) background() {
	s := &w.system
	for {
		at, err := windows.WaitForMultipleObjects([]windows.Handle{s.quit, s.event}, false, windows.INFINITE)
		if err != nil || at == windows.WAIT_OBJECT_0 {
			return
		}
		w.mu.Lock()
		if w.closed || s.failed != nil {
			s.listening = false
			w.mu.Unlock()
			return
		}
		before := s.events
		w.takeOne(context.Background(), false)
		if s.events != before || !w.pending.empty() {
			w.wakeUp()
		}
		w.mu.Unlock()
	}
}

// remounted does nothing: mounts below the root are not detected on Windows.
func (w *Watcher) remounted(ctx context.Context) error { return ctx.Err() }

func (w *Watcher) stop() error {
	s := &w.system
	if s.quit != 0 {
		windows.SetEvent(s.quit)
	}
	s.done.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	s.end()
	for _, h := range [...]*windows.Handle{&s.event, &s.quit} {
		if *h != 0 {
			windows.CloseHandle(*h)
			*h = 0
		}
	}
	return nil
}

// end stops reading. The buffer belongs to the system until the read has ended.
func (s *system) end() {
	if s.handle == 0 {
		return
	}
	if s.reading {
		windows.CancelIoEx(s.handle, s.read)
		s.result(true)
	}
	windows.CloseHandle(s.handle)
	s.handle = 0
}

func (w *Watcher) endRenames() {}
func (w *Watcher) unmark()     {}

func (w *Watcher) rescan(dir rootfs.Path)           { w.system.rescan(dir) }
func (w *Watcher) settle(ctx context.Context) error { return w.system.settle(ctx) }

// swept does nothing, because Options.Passed is not called on Windows: the next barrier
// reports the root.
func (w *Watcher) swept(func(dir string) bool) error { return nil }

func (w *Watcher) unwatched() []rootfs.Path {
	if w.system.failed != nil {
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
