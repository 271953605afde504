package changer

import (
	"context"
	"maps"
	"slices"
	"sync"

	"quarry/internal/rootfs"
)

// pathLocks orders the changes of one process. A lock on a path includes everything below
// it. A request locks all its paths at once, so there is no deadlock. Requests are
// granted in order, so none starves. Changes of other processes are detected by the
// version that each change expects.
type pathLocks struct {
	mu    sync.Mutex
	queue []*pathHold // in request order; guarded by mu
}

type pathHold struct {
	locks *pathLocks
	paths map[rootfs.Path]bool // guarded by locks.mu
	turn  chan struct{}        // closed when the paths are locked
	held  bool
}

// lock waits until no earlier request includes any of the paths, or a path below or above
// one.
func (l *pathLocks) lock(ctx context.Context, paths ...rootfs.Path) (unlock func(), err error) {
	h, err := l.hold(ctx, paths...)
	if err != nil {
		return nil, err
	}
	return h.unlock, nil
}

// hold is like lock, but more paths can be added later.
func (l *pathLocks) hold(ctx context.Context, paths ...rootfs.Path) (*pathHold, error) {
	h := &pathHold{locks: l, paths: make(map[rootfs.Path]bool, len(paths)), turn: make(chan struct{})}
	for _, p := range paths {
		h.paths[p] = true
	}
	l.mu.Lock()
	l.queue = append(l.queue, h)
	l.wake()
	l.mu.Unlock()
	select {
	case <-h.turn:
		return h, nil
	case <-ctx.Done():
		h.unlock()
		return nil, context.Cause(ctx)
	}
}

func (h *pathHold) unlock() {
	l := h.locks
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.queue, h); i >= 0 {
		l.queue = slices.Delete(l.queue, i, i+1)
	}
	l.wake()
}

// extend adds paths to a hold if none of them is locked. It never waits: two holds
// waiting for each other's paths would deadlock. Later requests continue to wait.
func (h *pathHold) extend(paths []rootfs.Path) bool {
	l := h.locks
	l.mu.Lock()
	defer l.mu.Unlock()
	more := &pathHold{paths: make(map[rootfs.Path]bool, len(paths))}
	for _, p := range paths {
		more.paths[p] = true
	}
	before := true
	for _, other := range l.queue {
		if other == h {
			before = false
		} else if (before || other.held) && other.meets(more) {
			return false
		}
	}
	maps.Copy(h.paths, more.paths)
	return true
}

// wake grants every request that no earlier request blocks.
func (l *pathLocks) wake() {
	for i, h := range l.queue {
		if !h.held && !slices.ContainsFunc(l.queue[:i], h.meets) {
			h.held = true
			close(h.turn)
		}
	}
}

// meets reports whether a path of either hold is equal to or below a path of the other.
func (h *pathHold) meets(other *pathHold) bool {
	return h.beneath(other) || other.beneath(h)
}

func (h *pathHold) beneath(other *pathHold) bool {
	for p := range h.paths {
		for up := p; ; up = up.Dir() {
			if other.paths[up] {
				return true
			}
			if up.IsRoot() {
				break
			}
		}
	}
	return false
}
