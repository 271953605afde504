package walk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"quarry/internal/crew"
	"quarry/internal/rootfs"
)

// lateContext is a context whose Err reports its end before its Done channel is closed, as happens
// for a moment when a deadline passes.
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

// If a visitor skips files because the context is done, the walk must not look complete.
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
	// Done is never closed, so the workers don't notice the end of the context during the walk.
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

// A panic in a callback is passed on to the caller after all workers have ended.
func TestPanicsAreTheCallers(t *testing.T) {
	dir := t.TempDir()
	for i := range 300 {
		at := filepath.Join(dir, fmt.Sprint("d", i%30))
		if err := errors.Join(os.MkdirAll(at, 0o755), os.WriteFile(filepath.Join(at, fmt.Sprint(i)), nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	root, err := rootfs.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	var running atomic.Int32
	visit := func(v *Visit, e *rootfs.Entry, bad bool) {
		running.Add(1)
		defer running.Add(-1)
		if bad && e.Name == "150" {
			panic("visit")
		}
	}
	for name, f := range map[string]func() error{
		"unordered": func() error {
			_, err := Walk(t.Context(), root, &Options{Workers: 3}, func(v *Visit) error {
				for i := range v.Files {
					visit(v, &v.Files[i], true)
				}
				return nil
			})
			return err
		},
		"ordered": func() error {
			_, err := Each(t.Context(), root, &Options{Workers: 3}, func(v *Visit, e *rootfs.Entry) (int, bool) { visit(v, e, true); return 0, true }, func(string, int) error { return nil })
			return err
		},
		"passed on": func() error {
			_, err := Each(t.Context(), root, &Options{Workers: 3}, func(v *Visit, e *rootfs.Entry) (int, bool) { visit(v, e, false); return 0, true }, func(string, int) error { panic("visit") })
			return err
		},
	} {
		got := func() (p any) {
			defer func() { p = recover() }()
			return f()
		}()
		if p, ok := got.(*crew.Panic); !ok || p.Value != "visit" || running.Load() != 0 {
			t.Errorf("%s: %v, %d still visit", name, got, running.Load())
		}
	}
}
