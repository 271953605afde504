package changer

import (
	"context"
	"slices"
	"sync"

	"quarry/internal/rootfs"
)

// pathLocks orders the changes of one process. A lock on a path includes
// everything below it. A set of paths is locked at once or not at all, so there
// is no deadlock. Locks are granted in the order of the requests, so no request
// waits for ever. Other processes are ordered by the version each change expects.
type pathLocks struct {
	mu    sync.Mutex
	queue []*pathHold // in the order of asking; guarded by mu
}

type pathHold struct {
	paths []rootfs.Path
	turn  chan struct{} // closed when it holds its paths
	held  bool
}

// lock waits until nobody before us wants any of the paths, one beneath or one
// above them.
func (l *pathLocks) lock(ctx context.Context, paths ...rootfs.Path) (unlock func(), err error) {
	h := &pathHold{paths: paths, turn: make(chan struct{})}
	l.mu.Lock()
	l.queue = append(l.queue, h)
	l.wake()
	l.mu.Unlock()
	select {
	case <-h.turn:
		return func() { l.leave(h) }, nil
	case <-ctx.Done():
		l.leave(h)
		return nil, context.Cause(ctx)
	}
}

func (l *pathLocks) leave(h *pathHold) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.queue, h); i >= 0 {
		l.queue = slices.Delete(l.queue, i, i+1)
	}
	l.wake()
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

func (h *pathHold) meets(other *pathHold) bool {
	for _, p := range h.paths {
		for _, q := range other.paths {
			if p.Beneath(q) || q.Beneath(p) {
				return true
			}
		}
	}
	return false
}
