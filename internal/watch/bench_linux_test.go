//go:build linux && !portable

package watch

import (
	"context"
	"os"
	"testing"

	"quarry/internal/rootfs"
)

func benchTree(b *testing.B) *rootfs.Root {
	dir := os.Getenv("QUARRY_BENCH_TREE")
	if dir == "" {
		b.Skip("QUARRY_BENCH_TREE names the tree to watch")
	}
	root, err := rootfs.Open(dir, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { root.Close() })
	return root
}

// BenchmarkOpen sets up the watches of a whole tree.
func BenchmarkOpen(b *testing.B) {
	root := benchTree(b)
	b.ReportAllocs()
	for b.Loop() {
		w, err := Open(context.Background(), root, nil)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(w.Status().Watches), "watches")
		b.StopTimer()
		w.Close()
		b.StartTimer()
	}
}

// BenchmarkBarrierIdle is what a search pays when nothing happened.
func BenchmarkBarrierIdle(b *testing.B) {
	root := benchTree(b)
	w, err := Open(context.Background(), root, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	ctx := context.Background()
	apply := func(*Changes) {}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.Barrier(ctx, apply); err != nil {
			b.Fatal(err)
		}
	}
}
