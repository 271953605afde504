package tool

import (
	"context"
	"sync"
)

// Session is one connection of a client: calls that follow each other. Tools may
// remember in it what later calls of the same connection need.
type Session struct {
	// ID is recorded with every change of the connection; "" is a connection that
	// has no name.
	ID string
	// Notes has what tools remember, by keys of types of their own.
	Notes sync.Map

	mu    sync.Mutex
	ended bool     // guarded by mu
	then  []func() // guarded by mu
}

// OnEnd runs f when the connection has ended; at once if it has.
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

// End says that the connection has ended.
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

// SessionOf returns the session of a call; nil if nobody said which it is.
func SessionOf(ctx context.Context) *Session {
	s, _ := ctx.Value(sessionKey{}).(*Session)
	return s
}
