package tool

import (
	"context"
	"sync"
)

// Session is one connection of a client, in which it makes a sequence of calls. Tools may store
// data in it for later calls on the same connection.
type Session struct {
	// ID is recorded with every change made on this connection; "" if it has no id.
	ID string
	// Notes holds the tools' data. Each tool uses a key of its own type.
	Notes sync.Map

	mu    sync.Mutex
	ended bool     // guarded by mu
	then  []func() // guarded by mu
}

// OnEnd calls f when the connection ends, or at once if it has already ended.
func (s *Session) OnEnd(f func()) {
	s.mu.Lock()
	ended := s.ended
	if !ended {
		s.then = append(s.then, f)
	}
	s.mu.Unlock()
	if ended {
		f()
	}
}

// End marks the connection as ended.
func (s *Session) End() {
	s.mu.Lock()
	list := s.then
	s.ended, s.then = true, nil
	s.mu.Unlock()
	for _, f := range list {
		f()
	}
}

type sessionKey struct{}

// WithSession returns a context for calls of session s.
func WithSession(ctx context.Context, s *Session) context.Context {
	return context.WithValue(ctx, sessionKey{}, s)
}

// SessionOf returns the session of a call, or nil.
func SessionOf(ctx context.Context) *Session {
	s, _ := ctx.Value(sessionKey{}).(*Session)
	return s
}
