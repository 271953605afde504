package index

import (
	"context"
	"sync"
	"time"
)

// maxYield is how long a worker of a build waits for searches, for each segment. A search that
// never ends must not prevent the index that it lacks.
const maxYield = 5 * time.Second

// scans are the searches that read files because the index is not ready. A build waits for them:
// with two processors, the first search of the Linux tree took 0.5 s alone and 1.5 to 4.5 s beside
// the build.
type scans struct {
	mu   sync.Mutex
	n    int
	none chan struct{} // closed when n is 0 again
}

// Yield makes builds wait until end is called, or for a few seconds.
func (ix *Index) Yield() (end func()) {
	s := &ix.scans
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.n++; s.n == 1 {
		s.none = make(chan struct{})
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.n--; s.n == 0 {
			close(s.none)
		}
	}
}

// wait waits for the searches, at most for the given time, and returns how much of it is left.
func (s *scans) wait(ctx context.Context, left time.Duration) time.Duration {
	s.mu.Lock()
	busy, none := s.n > 0, s.none
	s.mu.Unlock()
	if !busy || left <= 0 {
		return left
	}
	started := time.Now()
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-none:
	case <-timer.C:
	case <-ctx.Done():
	}
	return left - time.Since(started)
}
