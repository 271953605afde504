package changer

import (
	"sync"

	"quarry/internal/rootfs"
)

// calls counts the changes in progress.
type calls struct {
	mu     sync.Mutex
	n      int
	closed bool
	idle   chan struct{} // closed when n becomes 0; nil if no goroutine waits
}

// enter begins a change, and leave ends it. Close waits for leave. Errors are reported
// for the operation op.
func (w *Changer) enter(op string) (leave func(), err error) {
	c := &w.calls
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, rootfs.ErrClosed
	}
	if err := w.changeable(op); err != nil {
		return nil, err
	}
	if c.n == 0 {
		if err := w.renewState(); err != nil {
			return nil, err
		}
	}
	if err := w.claim(); err != nil {
		return nil, err
	}
	c.n++
	return c.leave, nil
}

func (c *calls) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n--; c.n == 0 && c.idle != nil {
		close(c.idle)
		c.idle = nil
	}
}

// close prevents further changes and waits for those in progress.
func (c *calls) close() {
	c.mu.Lock()
	c.closed = true
	if c.n > 0 && c.idle == nil {
		c.idle = make(chan struct{})
	}
	idle := c.idle
	c.mu.Unlock()
	if idle != nil {
		<-idle
	}
}
