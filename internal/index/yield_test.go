package index

import (
	"context"
	"sync/atomic"
	"testing"
	"time"
)

// A build waits until the last search has ended, it is cancelled, or it has waited long enough.
func TestBuildYields(t *testing.T) {
	ix := &Index{}
	ctx, cancel := context.WithCancel(context.Background())
	w := &buildWorker{build: &build{scans: &ix.scans}, patience: time.Hour}
	if w.yield(ctx); w.patience != time.Hour {
		t.Error("waited without a search")
	}
	one, two := ix.Yield(), ix.Yield()
	one()
	var ended atomic.Bool
	done := make(chan bool)
	go func() { w.yield(ctx); done <- ended.Load() }()
	ended.Store(true)
	two()
	if !<-done {
		t.Error("did not wait for the second search")
	}
	defer ix.Yield()()
	w.patience = 1
	if w.yield(ctx); w.patience > 0 {
		t.Error("did not wait")
	}
	cancel()
	w.patience = time.Hour
	w.yield(ctx)
}
