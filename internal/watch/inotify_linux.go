//go:build linux && !portable

package watch

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"quarry/internal/rootfs"
	"quarry/internal/rootfs/mounts"
)

const (
	// dirMask has the events for entries of a watched folder. IN_DELETE_SELF and
	// IN_MOVE_SELF are omitted to keep the queue short: the parent's watch reports the
	// same by name, and IN_IGNORED follows a deletion anyway. IN_EXCL_UNLINK is omitted
	// because it depends on the directory cache, from which some file systems drop
	// entries of existing files; an additional event does no harm. IN_MASK_CREATE is
	// omitted because it refuses a folder that is already watched, but we want its
	// descriptor, which identifies its former place.
	dirMask = unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO |
		unix.IN_MODIFY | unix.IN_CLOSE_WRITE | unix.IN_ATTRIB

	// 64 KiB hold 2,000 events with names of normal length. An event takes 16 bytes, and
	// up to 256 more for its name.
	eventBuf = 64 << 10

	// maxRenames limits how many renames may wait for their second event. Beyond it, all of
	// them are given up.
	maxRenames = 1024
)

// system is the inotify side of a Watcher, guarded by its lock.
type system struct {
	file *os.File // the inotify handle; nil if there is none
	fd   int
	done sync.WaitGroup

	top     *node
	wds     map[int32]*node     // folders by watch descriptor
	limbo   map[*node]struct{}  // watched nodes outside the tree, which may be moved back
	marks   []*node             // nodes with marked set
	aside   map[*node]error     // unwatched nodes, and the reason
	roots   []rootfs.Path       // paths of aside; nil if outdated
	renames map[uint32]struct{} // cookies of renames of tainted names, by which note taints the new name

	opening bool  // Options.Passed is being called
	newest  *node // the last newly watched folder, not yet reported by passed

	check map[place]bool // places to compare with the disk; true includes everything below
	stack []task         // places to compare, from listings

	mounts  *mounts.Mounts
	mounted [][]byte // paths of files on which something is mounted

	events, lost uint64
	queued       int32 // receives the queue's length from the kernel
	buf          []byte
	path         []byte // scratch
	entries      []rootfs.Entry
}

func (w *Watcher) start(ctx context.Context) error {
	s := &w.system
	s.wds = map[int32]*node{}
	s.limbo, s.aside = map[*node]struct{}{}, map[*node]error{}
	s.check, s.renames = map[place]bool{}, map[uint32]struct{}{}
	s.top = &node{wd: noWatch, marked: true}
	s.marks = append(s.marks, s.top)
	if w.root.FSKind() != rootfs.FSLocal {
		s.aside[s.top] = ErrForeign
		return nil
	}
	s.mounts = mounts.Of(w.root)
	w.noteMounted()
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil { // too many inotify instances: the caller sweeps
		s.aside[s.top] = err
		return nil
	}
	s.fd, s.file = fd, os.NewFile(uintptr(fd), "inotify")
	s.buf = make([]byte, eventBuf)
	w.mu.Lock()
	w.rescan(rootfs.Path{})
	s.opening = w.opts.Passed != nil
	err = w.settle(ctx)
	w.passed()
	s.opening = false
	w.mu.Unlock()
	if err != nil || w.opts.Passed != nil {
		return err // Swept calls listen
	}
	return w.listen()
}

// listen starts reading events between barriers.
func (w *Watcher) listen() error {
	if w.opts.idle {
		return nil
	}
	conn, err := w.system.file.SyscallConn()
	if err != nil {
		return err
	}
	w.system.done.Go(func() { conn.Read(w.background) }) // Read returns when the handle is closed
	return nil
}

// passed reports the last newly watched folder to Options.Passed. Its .git/info/exclude
// is watched by then.
func (w *Watcher) passed() {
	s := &w.system
	if n := s.newest; n != nil {
		s.newest = nil
		s.path = n.append(s.path[:0])
		w.opts.Passed(string(s.path[:max(0, len(s.path)-1)]))
	}
}

// swept replaces the report of the root by reports of the watched folders that were not
// swept. No event has been read before.
func (w *Watcher) swept(was func(dir string) bool) error {
	s := &w.system
	if s.file == nil {
		return nil
	}
	w.unmark()
	w.pending.init(w.opts.MaxPending)
	for _, n := range s.wds {
		if n.system != ordinary || !s.attached(n) {
			continue
		}
		s.path = n.append(s.path[:0])
		if !was(string(s.path[:max(0, len(s.path)-1)])) {
			w.mark(n)
		}
	}
	return w.listen()
}

func (w *Watcher) stop() error {
	s := &w.system
	if s.mounts != nil {
		s.mounts.Close()
	}
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.done.Wait()
	return err
}

// background empties the kernel's queue whenever it has events. By default the queue
// holds 16,384 events. It returns false to be called again for the next event.
func (w *Watcher) background(uintptr) bool {
	for {
		w.mu.Lock()
		if w.closed {
			w.mu.Unlock()
			return true
		}
		n := w.system.length()
		if n > 0 {
			w.drain(context.Background())
			w.signal()
		}
		w.mu.Unlock() // let barriers get the lock
		if n == 0 {
			return false
		}
	}
}

// signal wakes the reader of Pending if there are changes.
func (w *Watcher) signal() {
	if !w.pending.empty() {
		w.wakeUp()
	}
}

// length returns the number of bytes in the kernel's queue.
func (s *system) length() int {
	_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(s.fd), unix.TIOCINQ, uintptr(unsafe.Pointer(&s.queued)))
	if e != 0 {
		return 1 // unexpected; drain reads until the queue is empty
	}
	return int(s.queued)
}

// drain reads the events that are in the queue at the time of the call, and updates the
// tree of watches.
func (w *Watcher) drain(ctx context.Context) error {
	s := &w.system
	if s.file == nil {
		return nil
	}
	for left := s.length(); left > 0; {
		n, err := unix.Read(s.fd, s.buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			if err != unix.EAGAIN {
				w.overflow() // unexpected; compare everything
			}
			break
		}
		left -= n
		w.parse(s.buf[:n])
	}
	if len(s.renames) > maxRenames {
		w.endRenames()
	}
	w.clearSuspects()
	return w.settle(ctx)
}

// maxSuspects limits how many names clearSuspects looks up.
const maxSuspects = 64

// probes numbers the nonexistent names that clearSuspects looks up. They differ between all
// watchers, because looking up a cached name takes no lock.
var probes atomic.Int64

// clearSuspects finds the suspects that are the only name of their file, and untaints
// them: later events on such a name can't affect another file. Most temporary files exist
// long enough for this check.
func (w *Watcher) clearSuspects() {
	p := &w.pending
	if len(p.suspects) == 0 || len(p.suspects) > maxSuspects {
		return
	}
	var only []string
	for _, path := range p.suspects {
		if info, err := w.root.Stat(w.path(path)); err == nil && info.Type == rootfs.TypeFile && info.Nlink == 1 {
			only = append(only, path)
		}
	}
	// The kernel lowers the link count before it removes the name and queues the
	// event. In between, a second name looks like the only one. The kernel holds
	// the lock of the folder meanwhile, and looking up a name that is not cached
	// takes the same lock.
	for _, path := range only {
		name := fmt.Sprintf(".quarry-%d-%d", os.Getpid(), probes.Add(1))
		if i := strings.LastIndexByte(path, '/'); i >= 0 {
			name = path[:i+1] + name
		}
		_, _ = w.root.Stat(w.path(name))
	}
	// If nothing has happened since, each name still has the same file.
	if w.system.length() == 0 {
		p.untaint(only)
	}
}

// endRenames is called by a barrier once both events of every earlier rename have been
// read. A renamed file without a second event has left the tree.
func (w *Watcher) endRenames() {
	if s := &w.system; len(s.renames) > 0 {
		clear(s.renames)
		w.pending.passed = true
	}
}

// parse reads a block of inotify_event records: wd 4, mask 4, cookie 4, length
// 4, name padded with NUL.
func (w *Watcher) parse(block []byte) {
	for len(block) >= unix.SizeofInotifyEvent {
		wd := int32(binary.NativeEndian.Uint32(block))
		mask := binary.NativeEndian.Uint32(block[4:])
		cookie := binary.NativeEndian.Uint32(block[8:])
		size := int(binary.NativeEndian.Uint32(block[12:])) + unix.SizeofInotifyEvent
		if size > len(block) {
			w.overflow() // not a valid record
			return
		}
		name := block[unix.SizeofInotifyEvent:size]
		if i := bytes.IndexByte(name, 0); i >= 0 {
			name = name[:i]
		}
		block = block[size:]
		w.system.events++
		w.event(wd, mask, cookie, name)
	}
}

func (w *Watcher) event(wd int32, mask, cookie uint32, name []byte) {
	s := &w.system
	if mask&unix.IN_Q_OVERFLOW != 0 {
		w.overflow()
		return
	}
	n := s.wds[wd]
	switch {
	case n == nil: // its watch was removed
	case mask&unix.IN_IGNORED != 0:
		w.ignored(n)
	case len(name) == 0:
		// An event of the folder itself. Except for the root, the parent reports it too.
		if n == s.top && mask&unix.IN_ATTRIB != 0 {
			w.mark(n)
		}
	case n.system != ordinary:
		w.systemEvent(n, mask, name)
	case mask&unix.IN_ISDIR != 0:
		w.folderEvent(n, name)
	default:
		w.note(n, name, mask, cookie)
	}
}

// overflow handles lost events: it compares all watches and reports the root.
func (w *Watcher) overflow() {
	w.system.lost++
	w.pending.lost = true
	w.mark(w.system.top)
	w.rescan(rootfs.Path{})
}

// ignored handles the end of a watch because the folder was deleted or its file system
// unmounted.
func (w *Watcher) ignored(n *node) {
	s := &w.system
	delete(s.wds, n.wd)
	n.wd = noWatch
	if n == s.top {
		w.mark(n)
		w.rescan(rootfs.Path{})
		return
	}
	if n.parent != nil {
		w.mark(n)
		s.later(place{n.parent, n.name}, true)
	}
}

// folderEvent handles an event on a subfolder that was made, deleted or moved, or whose
// permissions have changed. settle checks its present state after the queue was read.
func (w *Watcher) folderEvent(n *node, name []byte) {
	s := &w.system
	if kid := n.kids[string(name)]; kid != nil && kid.system == ordinary {
		w.mark(kid)
		s.later(place{n, kid.name}, false)
		return
	}
	at := place{n, string(name)}
	s.later(at, false)
	s.path = n.append(s.path[:0])
	w.noteProtected(s.path, at.name)
	if s.reported(n) {
		return
	}
	_, protected := systemFolder(at)
	inside := !protected && w.admit(at) // uses s.path, too
	s.path = append(n.append(s.path[:0]), name...)
	if inside {
		w.pending.tree(s.path)
	} else {
		w.add(n, Created|Removed)
	}
}

// note records an event on an entry that is not a folder.
func (w *Watcher) note(n *node, name []byte, mask, cookie uint32) {
	s := &w.system
	op := opOf(mask)
	if _, flew := s.renames[cookie]; flew && mask&unix.IN_MOVED_TO != 0 {
		delete(s.renames, cookie)
		op |= tainted
	}
	if rootfs.IsTemp(unsafe.String(unsafe.SliceData(name), len(name))) {
		return
	}
	var passed bool
	if !s.attached(n) { // the folder is reported if it comes back
		passed = w.pending.unlisted(op)
	} else {
		s.path = append(n.append(s.path[:0]), name...)
		passed = w.add(n, op)
	}
	switch {
	case !passed:
	case mask&unix.IN_MOVED_FROM != 0:
		s.renames[cookie] = struct{}{}
	default:
		w.pending.passed = true
	}
}

// add reports the path in s.path, which is an entry of n.
func (w *Watcher) add(n *node, op Op) (passed bool) {
	passed, ok := w.pending.file(w.system.path, op, w.system.reported(n))
	if !ok {
		w.mark(n)
	}
	return passed
}

func opOf(mask uint32) Op {
	var op Op
	if mask&(unix.IN_CREATE|unix.IN_MOVED_TO) != 0 {
		op |= Created
	}
	if mask&unix.IN_MOVED_TO != 0 {
		op |= over
	}
	if mask&unix.IN_MODIFY != 0 {
		op |= Written
	}
	if mask&unix.IN_CLOSE_WRITE != 0 {
		op |= Closed
	}
	if mask&unix.IN_ATTRIB != 0 {
		op |= Changed
	}
	if mask&(unix.IN_DELETE|unix.IN_MOVED_FROM) != 0 {
		op |= Removed
	}
	return op
}

func (w *Watcher) status() Status {
	s := &w.system
	st := Status{Watches: len(s.wds), Unwatched: len(w.unwatched()), Events: s.events, Lost: s.lost}
	for _, err := range s.aside {
		if st.Reason = err; err == ErrLimit {
			break // prefer the reason that the user can remove
		}
	}
	return st
}

// untaint removes the taint from names that proved to be the only ones of their files.
func (p *pending) untaint(paths []string) {
	for _, path := range paths {
		p.files[path] &^= tainted
	}
	p.suspects = slices.DeleteFunc(p.suspects, func(path string) bool { return slices.Contains(paths, path) })
}
