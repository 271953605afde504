package crew

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
)

func TestPanicReachesCaller(t *testing.T) {
	var done atomic.Int32
	failing := func(g *Group) {
		for i := range 8 {
			g.Go(func() {
				defer done.Add(1)
				if i == 3 {
					var list []int
					_ = list[i]
				}
			})
		}
	}
	var stopped atomic.Int32
	g := &Group{Stop: func() { stopped.Add(1) }}
	failing(g)
	p := recovered(g.Wait)
	if p == nil || !strings.Contains(p.Error(), "index out of range") || !strings.Contains(string(p.Stack()), "crew_test.go") {
		t.Fatalf("Wait panics with %v", p)
	}
	if done.Load() != 8 || stopped.Load() != 1 {
		t.Errorf("%d of 8 ended, stopped %d times", done.Load(), stopped.Load())
	}

	g = &Group{}
	failing(g)
	var as *Panic
	if err := g.WaitErr(); !errors.As(err, &as) {
		t.Errorf("WaitErr: %v", err)
	}
}

// If groups are nested, the panic has the value and stack of the goroutine that first panicked.
func TestNestedPanicIsTheFirst(t *testing.T) {
	var outer Group
	outer.Do(func() {
		var inner Group
		inner.Go(func() { panic("deep") })
		inner.Wait()
	})
	if p := recovered(outer.Wait); p == nil || p.Value != "deep" {
		t.Errorf("Wait panics with %v", p)
	}
}

func TestNoPanic(t *testing.T) {
	var g Group
	n := 0
	g.Do(func() { n++ })
	g.Go(func() {})
	g.Wait()
	if err := g.WaitErr(); err != nil || n != 1 {
		t.Error(err, n)
	}
}

func recovered(f func()) (p *Panic) {
	defer func() { p, _ = recover().(*Panic) }()
	f()
	return nil
}

func TestEach(t *testing.T) {
	for _, n := range []int{0, 1, 5, 1000} {
		var seen atomic.Int64
		Each(t.Context(), n, 4, func(i int) { seen.Add(int64(i + 1)) })
		if got := int(seen.Load()); got != n*(n+1)/2 {
			t.Errorf("%d items: the sum is %d", n, got)
		}
	}
	var calls atomic.Int32
	p := recovered(func() {
		Each(t.Context(), 1_000_000, 4, func(int) {
			calls.Add(1)
			panic("no")
		})
	})
	if p == nil || p.Value != "no" || calls.Load() > 4 {
		t.Errorf("%v after %d calls", p, calls.Load())
	}
	ctx, cancel := context.WithCancel(t.Context())
	calls.Store(0)
	Each(ctx, 1_000_000, 4, func(int) { calls.Add(1); cancel() })
	if calls.Load() > 4 {
		t.Errorf("%d calls after the end of the context", calls.Load())
	}
}
