package walk

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"quarry/internal/rootfs"
)

// lateContext has ended for whoever asks, while those that wait for its end have
// not been told yet, as it is for a moment when a deadline passes.
type lateContext struct {
	context.Context
	ended atomic.Bool
}

func (c *lateContext) Err() error {
	if c.ended.Load() {
		return context.DeadlineExceeded
	}
	return nil
}

// A visitor that leaves out files because the context has ended must not make the
// walk look complete.
func TestEndOfContextIsReported(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b", "c"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	root, err := rootfs.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	// Its Done never closes: nobody is told before the walk is over.
	parent, cancel := context.WithCancel(t.Context())
	defer cancel()
	ctx := &lateContext{Context: parent}
	_, err = Each(ctx, root, &Options{}, func(*Visit, *rootfs.Entry) (struct{}, bool) {
		ctx.ended.Store(true)
		return struct{}{}, false
	}, func(string, struct{}) error { return nil })
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the walk ends with %v", err)
	}
}
