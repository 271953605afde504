package index

import (
	"context"
	"slices"
	"strings"
	"testing"

	"quarry/internal/rootfs"
	"quarry/internal/stress"
)

// Paths equals Files, with several segments, dirty files and folders.
func TestPathsEqualFiles(t *testing.T) {
	stress.SkipTiny(t)
	ctx := context.Background()
	for seed := range uint64(4) {
		w := newWorld(t, 300+seed, false)
		for range 60 {
			w.change()
		}
		w.open()
		for round := range 12 {
			for range w.r.IntN(6) {
				w.change()
			}
			snap, err := w.ix.Fresh(ctx)
			if err != nil {
				t.Fatal(err)
			}
			for _, dir := range []string{"", "a", "sub", "a/b"} {
				for _, hidden := range []bool{false, true} {
					comparePaths(t, snap, dir, hidden)
				}
			}
			snap.Close()
			if round%3 == 0 {
				if err := w.ix.Flush(ctx); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

func comparePaths(t *testing.T, snap *Snapshot, dir string, hidden bool) {
	t.Helper()
	var under rootfs.Path
	if dir != "" {
		var err error
		if under, err = snap.ix.root.Known(dir); err != nil {
			t.Fatal(err)
		}
	}
	passes := func(p []byte) bool { return !strings.Contains(string(p), "x") }
	c, err := snap.Candidates(Ask{Under: under, Hidden: hidden})
	if err != nil {
		t.Fatal(err)
	}
	var want, all []string
	if err := c.Files(func(d *Doc, _ bool) bool {
		all = append(all, d.Path())
		if passes(d.PathBytes()) {
			want = append(want, d.Path())
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	list := func(what string, want []string, test func() func([]byte) bool) {
		t.Helper()
		got, err := snap.Paths(context.Background(), under, plainLens(hidden), test)
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("below %q, hidden %v, %s: %q, want %q; %v", dir, hidden, what, got, want, err)
		}
	}
	for _, decoded := range []bool{true, false} { // cached, and not cached as in a process that makes a single search
		for _, v := range snap.views {
			v.seg.trusting = decoded
		}
		list("some", want, func() func([]byte) bool { return passes })
		list("all", all, nil)
	}
}
