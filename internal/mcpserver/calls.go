package mcpserver

import (
	"context"
	"sync"
)

// sessionCalls has the running calls of each session. When a session is deleted, the SDK
// waits for its calls. A call that waits for a user's decision would delay that, and
// leave a proposal without a client, so it is cancelled.
type sessionCalls struct {
	mu   sync.Mutex
	next int
	ends map[string]map[int]context.CancelFunc // guarded by mu
}

// begin registers a call of a session. The caller calls end when the call is over. Calls
// without a session id are not registered, because their connection ends them.
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

// cancel cancels the calls of a session.
func (c *sessionCalls) cancel(session string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, cancel := range c.ends[session] {
		cancel()
	}
}
