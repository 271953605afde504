package searcher

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"quarry/internal/crew"
	"quarry/search"
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

// A panic in a worker or in the delivering function reaches the caller, and no goroutine
// is left waiting.
func TestInOrderPanics(t *testing.T) {
	for _, of := range []string{"work", "deliver"} {
		var running atomic.Int32
		got := func() (p any) {
			defer func() { p = recover() }()
			_ = inOrder(t.Context(), 5000, 3, nil, func(_, i int) (int, bool) {
				running.Add(1)
				defer running.Add(-1)
				if of == "work" && i == 700 {
					panic("in " + of)
				}
				return i, true
			}, func(i, _ int) error {
				if of == "deliver" && i == 700 {
					panic("in " + of)
				}
				return nil
			})
			return nil
		}()
		if p, ok := got.(*crew.Panic); !ok || p.Value != "in "+of || running.Load() != 0 {
			t.Errorf("%s: %v, %d still work", of, got, running.Load())
		}
	}
}

// After a panic, workers that wait for room are released, because nothing is delivered
// any more.
func TestPanicsFreeTheBacklog(t *testing.T) {
	panicked := func(f func()) (p any) {
		defer func() { p = recover() }()
		f()
		return nil
	}
	for _, of := range []string{"work", "deliver"} {
		b := newBacklog(400)
		p := panicked(func() {
			_ = inOrder(t.Context(), 500, 4, b.wait, func(_, i int) (int, bool) {
				if of == "work" && i == 20 {
					panic(of)
				}
				if b.take(300) {
					return 300, true
				}
				return 0, true
			}, func(i, n int) error {
				if of == "deliver" && i == 5 {
					panic(of)
				}
				b.release(n)
				return nil
			})
		})
		if p == nil {
			t.Errorf("%s: no panic", of)
		}
	}
	dir := t.TempDir()
	for i := range 60 {
		put(t, dir, fmt.Sprintf("d%02d/f%02d", i, i), strings.Repeat("foo\n", 5000))
	}
	d := openFolder(t, dir)
	d.Workers, d.ahead = 4, 2_000_000
	for range 10 {
		n := 0
		p := panicked(func() {
			_, _ = d.SearchEach(t.Context(), search.Query{Pattern: "foo", RawLines: true, Parts: true}, func(*search.FileMatch) error {
				if n++; n == 3 {
					panic("yield")
				}
				return nil
			})
		})
		if p == nil {
			t.Error("no panic")
		}
	}
}
