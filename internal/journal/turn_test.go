package journal

import (
	"context"
	"errors"
	"testing"
	"time"

	"quarry/fault"
	"quarry/internal/rootfs"
)

// Turns that need not be alone run concurrently, a turn alone waits for all others, and a
// caller that waits too long gets an error with the reason.
func TestTurn(t *testing.T) {
	dir := t.TempDir()
	open := func() *Journal {
		root, err := rootfs.Open(dir, &rootfs.Options{Trusted: true, AllowAny: true})
		if err != nil {
			t.Fatal(err)
		}
		j, err := Open(root, &Options{TurnWait: 5 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { j.Close(); root.Close() })
		return j
	}
	one, two := open(), open()
	ctx := context.Background()
	take := func(j *Journal, alone bool) func() {
		t.Helper()
		done, err := j.Turn(ctx, alone)
		if err != nil {
			t.Fatal(err)
		}
		return done
	}
	a, b := take(one, false), take(two, false)
	if _, err := two.Turn(ctx, true); !errors.Is(err, fault.Timeout) || fault.HintOf(err) == "" {
		t.Errorf("alone beside others: %v", err)
	}
	a()
	b()
	a = take(two, true)
	for _, alone := range []bool{false, true} {
		if _, err := one.Turn(ctx, alone); !errors.Is(err, fault.Timeout) {
			t.Errorf("beside one that is alone: %v", err)
		}
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := one.Turn(ended, true); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	a()
	take(one, true)()
}
