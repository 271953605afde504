// Package strangers bounds the connections of an HTTP server that have not shown the
// token. A connection that has shown it is never closed for others.
package strangers

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// Max is how many connections may be open that have not shown the token.
// With more, the oldest of them is closed: thousands that do nothing would use up the
// process's files and shut everyone else out.
const Max = 128

// Conns are the open connections without a token. The zero value has none; it is
// safe for concurrent use.
type Conns struct {
	mu    sync.Mutex
	order []net.Conn // the oldest first; guarded by mu
}

type connKey struct{}

// Watch sets the hooks of a server that has not been started.
func (s *Conns) Watch(server *http.Server) {
	server.ConnContext, server.ConnState = s.arrived, s.changed
}

// arrived is called for each new connection, before it is read.
func (s *Conns) arrived(ctx context.Context, c net.Conn) context.Context {
	s.mu.Lock()
	s.order = append(s.order, c)
	var oldest net.Conn
	if len(s.order) > Max {
		oldest, s.order = s.order[0], s.order[1:]
	}
	s.mu.Unlock()
	if oldest != nil {
		oldest.Close()
	}
	return context.WithValue(ctx, connKey{}, c)
}

// Known takes the connection of a request that has the token off the list.
func (s *Conns) Known(r *http.Request) {
	if c, ok := r.Context().Value(connKey{}).(net.Conn); ok {
		s.drop(c)
	}
}

// changed is called when the state of a connection changes.
func (s *Conns) changed(c net.Conn, state http.ConnState) {
	if state == http.StateClosed || state == http.StateHijacked {
		s.drop(c)
	}
}

func (s *Conns) drop(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, other := range s.order {
		if other == c {
			s.order = append(s.order[:i], s.order[i+1:]...)
			return
		}
	}
}
