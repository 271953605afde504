package mcpserver

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// maxStrangers is how many connections may be open that have not shown the token.
// With more, the oldest of them is closed: thousands that do nothing would use up the
// process's files and shut everyone else out.
const maxStrangers = 128

// strangers are the open connections without a token.
type strangers struct {
	mu    sync.Mutex
	order []net.Conn // the oldest first; guarded by mu
}

type connKey struct{}

// arrived is called for each new connection, before it is read.
func (s *strangers) arrived(ctx context.Context, c net.Conn) context.Context {
	s.mu.Lock()
	s.order = append(s.order, c)
	var oldest net.Conn
	if len(s.order) > maxStrangers {
		oldest, s.order = s.order[0], s.order[1:]
	}
	s.mu.Unlock()
	if oldest != nil {
		oldest.Close()
	}
	return context.WithValue(ctx, connKey{}, c)
}

// known is called with a request that has the token.
func (s *strangers) known(r *http.Request) {
	if c, ok := r.Context().Value(connKey{}).(net.Conn); ok {
		s.drop(c)
	}
}

// changed is called when the state of a connection changes.
func (s *strangers) changed(c net.Conn, state http.ConnState) {
	if state == http.StateClosed || state == http.StateHijacked {
		s.drop(c)
	}
}

func (s *strangers) drop(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, other := range s.order {
		if other == c {
			s.order = append(s.order[:i], s.order[i+1:]...)
			return
		}
	}
}
