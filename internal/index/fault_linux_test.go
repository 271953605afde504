//go:build linux && !portable

package index

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"quarry/internal/rootfs"
	"quarry/internal/rootfs/layer"
	"quarry/internal/stress"
)

// While the index is built, flushed and merged, each system call that changes its folder fails once with each
// possible error. The index keeps answering correctly, also after it is reopened, the next flush completes the
// failed one, and no files are left over.
func TestNthFault(t *testing.T) {
	stress.SkipShort(t)
	run := stress.Start(t, "nth fault: index", 1, 1)
	kinds := []error{unix.ENOSPC, unix.EIO, unix.EACCES, unix.EROFS, unix.EMFILE}
	turns := [][]error{kinds} // each call fails once, the kinds taking turns
	if stress.Thorough() {
		turns = nil // each call fails with every kind
		for _, k := range kinds {
			turns = append(turns, []error{k})
		}
	}
	turns = append(turns, []error{layer.ErrShort})
	for range run.Cases() {
		for _, turn := range turns {
			for at := 0; ; at++ {
				err := turn[at%len(turn)]
				if !failAt(t, at, err) {
					if at < 5 { // there are 8 writes, and about 90 calls
						t.Errorf("%v: only %d calls", err, at)
					}
					break
				}
				run.Tried(1)
				if t.Failed() {
					t.Fatalf("call %d fails with %v", at, err)
				}
			}
		}
	}
}

// failAt lets call number at fail. It reports whether that call happened.
func failAt(t *testing.T, at int, fault error) (hit bool) {
	w := newWorld(t, 7, true)
	defer w.root.Close()
	var mu sync.Mutex
	calls, on := 0, true
	layer := &rootfs.Layer{Before: func(call string) error {
		mu.Lock()
		defer mu.Unlock()
		if !on || fault == layer.ErrShort && call != "write" {
			return nil
		}
		if calls++; calls-1 == at {
			hit = true
			return fault
		}
		return nil
	}}
	var err error
	w.state, err = rootfs.Open(w.stateDir, &rootfs.Options{Trusted: true, AllowAny: true, Layer: layer})
	if err != nil {
		t.Fatal(err)
	}
	defer w.state.Close()
	for _, name := range []string{"a", "b/c", "b/d"} {
		w.write(name, "needle and "+name)
	}
	opts := &Options{Fields: wordFields, Workers: 1}
	if w.ix, err = Open(w.root, w.state, opts); err != nil { // such as a lock file that can't be made
		if hit {
			return true
		}
		t.Fatal(err)
	}
	ctx := context.Background()
	for _, name := range []string{"a", "e"} {
		if err := w.ix.Sweep(ctx, rootfs.Path{}); err != nil {
			t.Error(err) // a sweep writes nothing, so it can't fail
		}
		w.check()
		failed := w.ix.Flush(ctx) // may succeed after a fault: removing an old file may fail
		if failed != nil && !hit {
			t.Error(failed)
		}
		w.check()
		w.write(name, "another needle")
	}
	w.ix.Sweep(ctx, rootfs.Path{})
	w.ix.Flush(ctx)
	w.ix.Merge(ctx)
	mu.Lock()
	on = false
	mu.Unlock()
	w.refresh()
	w.check()
	if err := w.ix.Merge(ctx); err != nil {
		t.Error(err)
	}
	w.reopen()
	w.check()
	st := w.ix.Status()
	if st.Documents != 4 {
		t.Errorf("%d documents, want 4", st.Documents)
	}
	if err := w.ix.Close(); err != nil {
		t.Error(err)
	}
	entries, err := os.ReadDir(w.stateDir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	// The number of segments depends on the clock: files that changed just before they were
	// read are read again, and then there is only one segment.
	if len(names) != st.Segments+2 { // the lock, a manifest
		t.Errorf("%d segments, and left over: %s", st.Segments, strings.Join(names, " "))
	}
	return hit
}
