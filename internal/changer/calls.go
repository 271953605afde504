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
	idle   chan struct{} // closed when n is 0, if someone waits for it
}

// enter begins a change, which Close waits for. op is its name in an error that
// says why nothing can be changed.
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

// close lets no further change begin and waits for those in progress.
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
