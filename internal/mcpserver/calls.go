package mcpserver

import (
	"context"
	"sync"
)

// sessionCalls are the calls under way, by session. The SDK waits for them when a
// session is deleted: one that waits for a person's decision would keep it for as
// long, and leave a proposal that nobody waits for.
type sessionCalls struct {
	mu   sync.Mutex
	next int
	ends map[string]map[int]context.CancelFunc // guarded by mu
}

// begin notes a call of a session; end is called when it is over. Without an id
// the session ends with its connection.
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
