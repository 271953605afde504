package review_test

import (
	"errors"
	"testing"

	"quarry/internal/review"
)

// Every change of a proposal changes the stamp, even if the file system's clock does not
// advance.
func TestStampWithinATick(t *testing.T) {
	b := newBench(t, map[string]string{"a.txt": "old\n"}, -1)
	seen := map[string]string{}
	look := func(after string) {
		t.Helper()
		b.sameTick()
		stamp, err := b.store.Stamp()
		if err != nil {
			t.Fatal(err)
		}
		if was, ok := seen[stamp]; ok {
			t.Errorf("after %s the stamp is that after %s", after, was)
		}
		seen[stamp] = after
	}
	look("nothing")
	for range 3 {
		_, err := b.agent.Write(t.Context(), "a.txt", []byte("new\n"), nil)
		var pending *review.PendingError
		if !errors.As(err, &pending) {
			t.Fatal(err)
		}
		look("a proposal")
		if _, err := b.store.Decide(t.Context(), b.person, pending.ID, review.Decision{Rest: review.No}); err != nil {
			t.Fatal(err)
		}
		look("a decision")
	}
}
