package mcpserver

import (
	"context"
	"sync"
)

// sessionCalls are the running calls, by session. When a session is deleted, the SDK
// waits for its calls. A call that waits for a person's decision would delay that, and
// leave an orphaned proposal.
type sessionCalls struct {
	mu   sync.Mutex
	next int
	ends map[string]map[int]context.CancelFunc // guarded by mu
}

// begin registers a call of a session; end is called when the call is over. A session
// without an id ends with its connection.
func (c *sessionCalls) begin(ctx context.Context, session string) (_ context.Context, end func()) {
	if session == "" {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ends == nil {
		c.ends = map[string]map[int]context.CancelFunc{}
	}
	if c.ends[session] == nil {
		c.ends[session] = map[int]context.CancelFunc{}
	}
	id := c.next
	c.next++
	c.ends[session][id] = cancel
	return ctx, func() {
		cancel()
		c.mu.Lock()
		defer c.mu.Unlock()
		if delete(c.ends[session], id); len(c.ends[session]) == 0 {
			delete(c.ends, session)
		}
	}
}

// cancel ends the calls of a session.
func (c *sessionCalls) cancel(session string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, cancel := range c.ends[session] {
		cancel()
	}
}
