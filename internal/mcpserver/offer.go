package mcpserver

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"quarry/internal/crew"
)

// Offer is a page on which the user can make a decision that a call waits for. Its
// address must not contain a secret, because the client reads it and may show it to the
// model.
type Offer struct{ ID, Message, Address string }

type offerKey struct{}

// OfferPage offers a page to the client's user, if the client supports elicitation by
// URL. It does not wait for the user, whose decision is made on the page. done must be
// called when the call no longer waits.
func OfferPage(ctx context.Context, o Offer) (done func()) {
	if offer, ok := ctx.Value(offerKey{}).(func(Offer) func()); ok {
		return offer(o)
	}
	return func() {}
}

func (o *Offer) params() *mcp.ElicitParams {
	return &mcp.ElicitParams{Mode: "url", Message: o.Message, URL: o.Address, ElicitationID: o.ID}
}

func opensPages(req *mcp.CallToolRequest) bool {
	caps := req.ClientCapabilities()
	return caps != nil && caps.Elicitation != nil && caps.Elicitation.URL != nil
}

// offering runs a call of a client that can open pages.
//
// Before 2026-07-28, the server sends the offer as a request while the call waits. From
// then on, a server can make requests only in a response. So the response to the call is
// the offer, the call continues in the background, and the client sends the offer's key
// to get the result.
func (s *Server) offering(ctx context.Context, req *mcp.CallToolRequest, run func(context.Context) (*mcp.CallToolResult, error)) (*mcp.CallToolResult, error) {
	if p := req.Session.InitializeParams(); p != nil && p.ProtocolVersion < firstStateless {
		return run(context.WithValue(ctx, offerKey{}, func(o Offer) func() { return ask(ctx, req.Session, o) }))
	}
	h := &heldCall{over: make(chan struct{})}
	offers := make(chan Offer, 1)
	// The call may outlive this request. Until an offer is made, the end of the request
	// cancels the call.
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	unbind := context.AfterFunc(ctx, cancel)
	h.cancel = cancel
	own = context.WithValue(own, offerKey{}, func(o Offer) func() {
		select {
		case offers <- o:
		default: // only the first offer is sent
		}
		return func() {}
	})
	go func() {
		defer cancel()
		defer close(h.over)
		defer func() {
			if p := recover(); p != nil {
				s.log.Error("a handler panicked", "method", "tools/call", "panic", p, "stack", string(crew.StackOf(p)))
				h.res, h.err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "tools/call failed unexpectedly; other calls are not affected"}
			}
		}()
		h.res, h.err = run(own)
	}()
	select {
	case <-h.over:
	case o := <-offers:
		if key := s.held.add(h); key != "" {
			unbind()
			return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"decision": o.params()}, RequestState: key}, nil
		}
		<-h.over
	}
	return h.res, h.err
}

// ask sends an offer as a request from the server.
func ask(ctx context.Context, session *mcp.ServerSession, o Offer) (done func()) {
	ctx, cancel := context.WithCancel(ctx)
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		// Ignore the response: the call doesn't depend on it.
		_, _ = session.Elicit(ctx, o.params())
	}()
	return func() {
		cancel()
		<-answered
		_ = session.NotifyElicitationComplete(context.WithoutCancel(ctx), &mcp.ElicitationCompleteParams{ElicitationID: o.ID})
	}
}

// heldCall is a call whose client got an offer and will come back for the result.
type heldCall struct {
	cancel context.CancelFunc
	over   chan struct{} // closed when the call has ended
	res    *mcp.CallToolResult
	err    error
}

const (
	maxHeld = 64
	// heldFor is how long the result is kept for the client.
	heldFor = 10 * time.Minute
	endHeld = 200 * time.Millisecond
)

// heldCalls has the held calls by key. Only the client knows the key of its call.
type heldCalls struct {
	mu    sync.Mutex
	calls map[string]*heldCall // guarded by mu
}

// add stores a call and returns its key, or "" if there are too many.
func (l *heldCalls) add(h *heldCall) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.calls) >= maxHeld {
		return ""
	}
	if l.calls == nil {
		l.calls = map[string]*heldCall{}
	}
	key := rand.Text()
	l.calls[key] = h
	time.AfterFunc(heldFor, func() { l.take(key) })
	return key
}

func (l *heldCalls) take(key string) *heldCall {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.calls[key]
	delete(l.calls, key)
	return h
}

// resume waits for the result of a held call and returns it.
func (l *heldCalls) resume(ctx context.Context, key string) (*mcp.CallToolResult, error) {
	h := l.take(key)
	if h == nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("unknown requestState %.40q: the call has ended; make it again without one", key)}
	}
	defer context.AfterFunc(ctx, h.cancel)()
	<-h.over
	return h.res, h.err
}

// end cancels all held calls and waits for them for a short time. A call that waits for a
// user ends at once.
func (l *heldCalls) end() {
	l.mu.Lock()
	calls := l.calls
	l.calls = nil
	l.mu.Unlock()
	timeout := time.After(endHeld)
	for _, h := range calls {
		h.cancel()
	}
	for _, h := range calls {
		select {
		case <-h.over:
		case <-timeout:
			return
		}
	}
}
