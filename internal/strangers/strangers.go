// Package strangers limits the number of connections to an HTTP server that have not sent
// the token. A connection that has sent it is never closed in favor of others.
package strangers

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// Max is the maximum number of open connections that have not sent the token. Beyond it,
// the oldest one is closed: thousands of idle connections would use up the process's file
// handles and lock out other clients.
const Max = 128

// Conns holds the open connections that have not sent the token. The zero value is ready
// to use. It is safe for concurrent use.
type Conns struct {
	mu    sync.Mutex
	order []net.Conn // the oldest first; guarded by mu
}

type connKey struct{}

// Watch sets the hooks of a server. The server must not have been started.
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

// Known removes the connection of a request that has the token.
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
