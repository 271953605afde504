package owner

import (
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

// silence remembers an owner that sent no sign of life in time, such as one suspended by ^Z. It holds the
// lease, so no other process can answer, and each search would wait again. Instead a connection to it remains
// open, and searches don't ask it until it answers there.
type silence struct {
	mu   sync.Mutex
	conn net.Conn // nil: no silent owner is known
}

// begin leaves a connection open, with a request that a working owner answers at once.
func (s *silence) begin(socket string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != nil {
		return
	}
	conn, err := dialAt(socket, probeTime) // its queue may be full
	if err != nil {
		return
	}
	conn.SetWriteDeadline(time.Now().Add(probeTime))
	if writeFrame(conn, frameRequest, nil) != nil {
		conn.Close()
		return
	}
	s.conn = conn
}

// probeTime bounds the calls that may block while a silent owner is probed.
const probeTime = 50 * time.Millisecond

// still reports whether the owner is still silent. It is one system call.
func (s *silence) still() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn == nil {
		return false
	}
	s.conn.SetReadDeadline(time.Now().Add(time.Millisecond))
	var b [1]byte
	_, err := s.conn.Read(b[:])
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return true
	}
	s.conn.Close() // it lives, or is gone
	s.conn = nil
	return false
}

func (s *silence) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != nil {
		s.conn.Close()
		s.conn = nil
	}
}
