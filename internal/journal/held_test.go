package journal

import (
	"errors"
	"testing"
	"time"

	"quarry/change"
	"quarry/fault"
)

// If a process is stopped while it holds the lock, others get an error instead of waiting
// forever, and can continue once the lock is free.
func TestHeldByAStoppedProcess(t *testing.T) {
	b := newBench(t, &Options{LockWait: 200 * time.Millisecond})
	b.put("f", "one")
	b.change("first", b.replace("f", "two"))
	held, err := b.st.OpenLog(b.st.Own("lock"), true)
	b.must(err)
	t.Cleanup(func() { held.Close() })
	b.must(held.Lock(true))
	for name, call := range map[string]func() error{
		"a change": func() error {
			_, err := b.j.Begin(t.Context(), b.ws, Change{Tool: "test", Did: change.Action{Verb: change.Noted, Text: "second"}, Ops: []Op{b.replace("f", "three")}})
			return err
		},
		"the list": func() error { _, _, err := b.j.Dropped(); return err },
	} {
		done := make(chan error, 1)
		go func() { done <- call() }()
		select {
		case err := <-done:
			if !errors.Is(err, fault.Timeout) {
				t.Errorf("%s: %v", name, err)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s waits for a process that does not go on", name)
		}
	}
	b.must(held.Close())
	b.change("third", b.replace("f", "three"))
}
