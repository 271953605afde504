package mcpserver

import (
	"context"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"quarry/tool"
)

// progressEvery is the minimum time between two reports of a call. Users can't read
// faster, and a search may process thousands of files in this time.
const progressEvery = 50 * time.Millisecond

// progress sends the reports of one call.
type progress struct {
	send func(done, total int64, message string)

	mu   sync.Mutex
	last time.Time // guarded by mu
	done int64     // guarded by mu: the protocol requires it to increase
	some bool      // guarded by mu: a report was sent
	over bool      // guarded by mu
}

// withProgress lets a call report progress if the client asked for it, until the returned
// function is called.
func withProgress(ctx context.Context, req *mcp.CallToolRequest) (context.Context, func()) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return ctx, func() {}
	}
	p := &progress{send: func(done, total int64, message string) {
		// Ignore errors: sending the response will notice a disconnected client.
		_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
			ProgressToken: token, Progress: float64(done), Total: float64(total), Message: message,
		})
	}}
	return tool.WithProgress(ctx, p.report), p.end
}

// report sends a report, but not too often. The last one, with done equal to total, is
// always sent.
func (p *progress) report(done, total int64, message string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if done == 0 && total == 0 {
		done = p.done + 1
	}
	if p.over || p.some && (done <= p.done || done != total && time.Since(p.last) < progressEvery) {
		return
	}
	p.some, p.done, p.last = true, done, time.Now()
	p.send(done, total, message)
}

// end drops later reports, from goroutines that outlive the call. Sent after the
// response, they would violate the protocol.
func (p *progress) end() {
	p.mu.Lock()
	p.over = true
	p.mu.Unlock()
}
