package searcher

import (
	"context"
	"sync"

	"quarry/internal/crew"
)

const (
	// claimSize is how many items a worker takes at a time: enough to lock rarely, few
	// enough to distribute the work evenly.
	claimSize = 8
	// aheadLimit limits how far workers run ahead of delivery, so that an answer that
	// needs only a few items doesn't compute all of them.
	aheadLimit = 256
	// inlineLimit is the number of items up to which a single goroutine is faster than
	// several.
	inlineLimit = 4
)

// inOrder calls work for items 0 to n-1 in parallel. It delivers the results in this
// order, from the calling goroutine, except those for which work returned false. An error
// of deliver or of the context stops inOrder and is returned. waiting, which may be nil,
// is called with true when the calling goroutine begins to wait for a result, and with
// false when it stops waiting.
func inOrder[T any](ctx context.Context, n, workers int, waiting func(bool), work func(worker, i int) (T, bool), deliver func(i int, r T) error) error {
	if n <= inlineLimit || workers <= 1 {
		if waiting != nil {
			waiting(true) // nothing is delivered until there is a result
			defer waiting(false)
		}
		for i := range n {
			if err := ctx.Err(); err != nil {
				return err
			}
			if r, ok := work(0, i); ok {
				if err := deliver(i, r); err != nil {
					return err
				}
			}
		}
		return ctx.Err()
	}
	q := &orderedQueue[T]{n: n, waiting: waiting, slots: make([]orderedSlot[T], min(n, aheadLimit)+claimSize*workers)}
	q.changed.L = &q.mu
	stop := context.AfterFunc(ctx, q.halt)
	defer stop()
	wg := crew.Group{Stop: q.halt}
	for k := range min(workers, n) {
		wg.Go(func() { q.run(k, work) })
	}
	var err error
	wg.Do(func() { err = q.deliver(deliver) })
	q.halt()
	if waiting != nil { // nothing is delivered any more, so release workers that wait for room
		waiting(true)
		defer waiting(false)
	}
	wg.Wait()
	if err == nil {
		err = ctx.Err()
	}
	return err
}

// orderedQueue is a ring buffer of results between the workers and the delivering
// goroutine.
type orderedQueue[T any] struct {
	n       int
	slots   []orderedSlot[T] // item i is in slot i%len(slots)
	waiting func(bool)

	mu      sync.Mutex
	changed sync.Cond
	next    int // first unclaimed item
	given   int // number of items delivered
	stopped bool
}

type orderedSlot[T any] struct {
	r        T
	has, end bool
}

func (q *orderedQueue[T]) halt() {
	q.mu.Lock()
	q.stopped = true
	q.changed.Broadcast()
	q.mu.Unlock()
}

// claim takes the next few items. The range is empty if none are left.
func (q *orderedQueue[T]) claim() (from, to int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.stopped && q.next < q.n && q.next >= q.given+aheadLimit {
		q.changed.Wait()
	}
	if q.stopped || q.next >= q.n {
		return 0, 0
	}
	from = q.next
	q.next = min(q.n, from+claimSize)
	return from, q.next
}

func (q *orderedQueue[T]) run(worker int, work func(worker, i int) (T, bool)) {
	for {
		from, to := q.claim()
		if from == to {
			return
		}
		for i := from; i < to; i++ {
			r, has := work(worker, i)
			q.mu.Lock()
			stopped := q.stopped
			q.slots[i%len(q.slots)] = orderedSlot[T]{r, has, true}
			if i == q.given || i == to-1 {
				q.changed.Broadcast()
			}
			q.mu.Unlock()
			if stopped {
				return
			}
		}
	}
}

func (q *orderedQueue[T]) deliver(deliver func(i int, r T) error) error {
	for i := range q.n {
		q.mu.Lock()
		slot := &q.slots[i%len(q.slots)]
		q.await(slot)
		if !slot.end {
			q.mu.Unlock()
			return nil
		}
		s := *slot
		*slot = orderedSlot[T]{}
		q.given = i + 1
		if q.next >= q.given+aheadLimit-1 { // a worker may be waiting for a slot
			q.changed.Broadcast()
		}
		q.mu.Unlock()
		if s.has {
			if err := deliver(i, s.r); err != nil {
				return err
			}
		}
	}
	return nil
}

// await waits for the result of a slot. q.mu is held.
func (q *orderedQueue[T]) await(slot *orderedSlot[T]) {
	if slot.end || q.stopped {
		return
	}
	if q.waiting != nil {
		q.waiting(true)
		defer q.waiting(false)
	}
	for !slot.end && !q.stopped {
		q.changed.Wait()
	}
}
