//go:build (!linux && !windows && !darwin) || portable

package watch

import (
	"context"
	"errors"
	"testing"

	"quarry/internal/rootfs"
)

// Without events the whole root has to be swept every time.
func TestSweepOnly(t *testing.T) {
	root, err := rootfs.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	w, err := Open(context.Background(), root, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		calls := 0
		unwatched, err := w.Barrier(context.Background(), func(c *Changes) {
			calls++
			if len(c.Trees) != 1 || !c.Trees[0].IsRoot() {
				t.Errorf("trees %v, want the root", c.Trees)
			}
		})
		if err != nil || len(unwatched) != 1 || !unwatched[0].IsRoot() {
			t.Errorf("unwatched %v, %v", unwatched, err)
		}
		if want := map[int]int{0: 1}[i]; calls != want {
			t.Errorf("barrier %d: %d calls of apply, want %d", i, calls, want)
		}
	}
	if st := w.Status(); st.Unwatched != 1 || st.Reason == nil {
		t.Errorf("status %+v", st)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if _, err := w.Barrier(context.Background(), nil); !errors.Is(err, ErrClosed) {
		t.Errorf("barrier of a closed watcher: %v", err)
	}
}
