package index

import (
	"context"
	"testing"
	"time"
)

// A build reads no file while a search does, and goes on when the last search has ended or the
// worker has waited long enough.
func TestBuildYields(t *testing.T) {
	ix := &Index{}
	ctx, cancel := context.WithCancel(context.Background())
	if left := ix.scans.wait(ctx, time.Hour); left != time.Hour {
		t.Errorf("waited without a search: %v left", left)
	}
	one, two := ix.Yield(), ix.Yield()
	done := make(chan time.Duration)
	go func() { done <- ix.scans.wait(ctx, time.Hour) }()
	one()
	select {
	case <-done:
		t.Error("did not wait for the second search")
	default:
	}
	two()
	if left := <-done; left <= 0 {
		t.Errorf("%v left", left)
	}
	three := ix.Yield()
	if left := ix.scans.wait(ctx, time.Microsecond); left > 0 {
		t.Errorf("%v left of a microsecond", left)
	}
	cancel()
	if left := ix.scans.wait(ctx, time.Hour); left <= 0 {
		t.Errorf("cancelled: %v left", left)
	}
	three()
}
