package owner

import (
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

// silence remembers an owner that does not respond, for example because it was suspended
// by ^Z. It still holds the lease, so no other process can become the owner, and each
// search would wait for it again. Instead, one connection to it stays open, and searches
// skip it until it responds there.
type silence struct {
	mu   sync.Mutex
	conn net.Conn // nil if the owner is not known to be silent
}

// begin opens a connection and sends a request that a working owner answers at once.
func (s *silence) begin(socket string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != nil {
		return
	}
	conn, err := dialAt(socket, probeTime) // the owner's connection queue may be full
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

// probeTime limits calls to a silent owner that may block.
const probeTime = 50 * time.Millisecond

// still reports whether the owner is still silent. It takes one system call.
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
	s.conn.Close() // the owner responds again, or has ended
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
