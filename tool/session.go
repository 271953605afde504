package tool

import (
	"context"
	"sync"
)

// Session is one connection of a client: a sequence of calls. Tools may store data in it for
// later calls of the same connection.
type Session struct {
	// ID is recorded with every change of the connection; "" means a connection without a
	// name.
	ID string
	// Notes has the tools' data, with keys of types of their own.
	Notes sync.Map

	mu    sync.Mutex
	ended bool     // guarded by mu
	then  []func() // guarded by mu
}

// OnEnd runs f when the connection has ended, immediately if it already has.
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

// WithSession returns a context whose calls belong to a session.
func WithSession(ctx context.Context, s *Session) context.Context {
	return context.WithValue(ctx, sessionKey{}, s)
}

// SessionOf returns the session of a call; nil if it is unknown.
func SessionOf(ctx context.Context) *Session {
	s, _ := ctx.Value(sessionKey{}).(*Session)
	return s
}
