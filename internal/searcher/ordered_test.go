package searcher

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
)

func TestInOrder(t *testing.T) {
	for _, n := range []int{0, 1, 4, 5, 100, 1000, 5000} {
		for _, workers := range []int{1, 2, 8} {
			next := 0
			err := inOrder(context.Background(), n, workers, nil, func(worker, i int) (int, bool) {
				if worker >= workers {
					t.Errorf("worker %d of %d", worker, workers)
				}
				return i * 2, i%3 != 0
			}, func(i, r int) error {
				for next%3 == 0 {
					next++
				}
				if i != next || r != i*2 {
					t.Errorf("got item %d with %d, want item %d", i, r, next)
				}
				next++
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if n > 1 && next < n-1 {
				t.Errorf("%d items, %d workers: delivered up to %d", n, workers, next)
			}
		}
	}
}

func TestInOrderStops(t *testing.T) {
	enough := errors.New("enough")
	var done atomic.Int64
	err := inOrder(context.Background(), 100_000, 4, nil, func(_, i int) (int, bool) { done.Add(1); return i, true },
		func(i, _ int) error {
			if i == 10 {
				return enough
			}
			return nil
		})
	if err != enough || done.Load() > 11+aheadLimit+4*claimSize {
		t.Errorf("err %v after %d items", err, done.Load())
	}
	ctx, cancel := context.WithCancel(context.Background())
	err = inOrder(ctx, 100_000, 4, nil, func(_, i int) (int, bool) {
		if i == 50 {
			cancel()
		}
		return i, true
	}, func(int, int) error { return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
