package zoekt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"quarry/internal/crew"
)

// answer is what one replica gave.
type answer[T any] struct {
	value T
	err   error
}

// ask asks the replicas of a server until one answers: the first, and whenever
// one fails, or says nothing for the time of a hedge, the next as well. The
// first good answer counts and the others are called off. All of them together
// have the server's time. With an error the value is what came all the same, if
// that is of use.
func ask[T any](ctx context.Context, c *Client, server int, do func(ctx context.Context, base string) (T, error)) (T, error) {
	s := c.servers[server]
	patience := s.patience(c.opts.Timeout)
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	answers := make(chan answer[T], len(s.replicas)) // room for all: nobody is waited for
	asked, open := 0, 0
	next := func() {
		base := s.replicas[asked]
		asked++
		open++
		go func() {
			var a answer[T]
			var one crew.Group
			one.Do(func() { a.value, a.err = do(limited, base) })
			a.err = cmp.Or(one.WaitErr(), a.err)
			answers <- a
		}()
	}
	next()
	hedge := time.NewTimer(c.opts.Hedge)
	defer hedge.Stop()
	var worst answer[T]
	for open > 0 {
		select {
		case <-hedge.C:
			if asked < len(s.replicas) {
				next()
				hedge.Reset(c.opts.Hedge)
			}
		case <-limited.Done():
			if ctx.Err() != nil {
				return worst.value, ctx.Err()
			}
			if patience == c.opts.Timeout { // in between, a brief one proves nothing
				s.ranOut(time.Now())
			}
			return worst.value, fmt.Errorf("no answer in %s", patience)
		case a := <-answers:
			open--
			if a.err == nil {
				s.ranOut(time.Time{})
				return a.value, nil
			}
			worst = a
			var refused *Error
			if errors.As(a.err, &refused) && !refused.retriable() {
				return a.value, a.err
			}
			if asked < len(s.replicas) && limited.Err() == nil {
				next()
			}
		}
	}
	switch refused := (*Error)(nil); {
	case ctx.Err() != nil:
		return worst.value, ctx.Err()
	case limited.Err() != nil, errors.As(worst.err, &refused) && refused.Code == deadlineExceeded:
		return worst.value, fmt.Errorf("no answer in %s", patience)
	}
	return worst.value, worst.err
}

// patience is how long a call may take.
func (s *server) patience(full time.Duration) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.silent) < wary {
		return min(full, briefPatience)
	}
	return full
}

// ranOut notes when the server let a call run out of time; zero: it answers.
func (s *server) ranOut(when time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.silent = when
}
