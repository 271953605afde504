//go:build linux && !portable

package watch

import (
	"context"
	"fmt"
	"os"
	"testing"

	"quarry/internal/rootfs"
)

func benchTree(b *testing.B) *rootfs.Root {
	dir := os.Getenv("QUARRY_BENCH_TREE")
	if dir == "" {
		b.Skip("set QUARRY_BENCH_TREE to a large folder")
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

// BenchmarkBarrierIdle measures a search's cost when nothing happened.
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

// BenchmarkEvents measures reading and recording one event: 4,000 files in 20 folders
// change between two barriers.
func BenchmarkEvents(b *testing.B) {
	dir := b.TempDir()
	for i := range 20 {
		if err := os.Mkdir(fmt.Sprintf("%s/d%d", dir, i), 0o755); err != nil {
			b.Fatal(err)
		}
	}
	root, err := rootfs.Open(dir, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer root.Close()
	w, err := Open(context.Background(), root, &Options{idle: true})
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	apply := func(*Changes) {}
	if _, err := w.Barrier(context.Background(), apply); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	start := w.Status().Events
	for b.Loop() {
		b.StopTimer()
		for i := range 4000 {
			if err := os.WriteFile(fmt.Sprintf("%s/d%d/%d", dir, i%20, i), []byte("x"), 0o644); err != nil {
				b.Fatal(err)
			}
		}
		b.StartTimer()
		if _, err := w.Barrier(context.Background(), apply); err != nil {
			b.Fatal(err)
		}
	}
	if w.Status().Lost > 0 {
		b.Fatal("the queue overflowed")
	}
	b.ReportMetric(float64(w.Status().Events-start)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkRenameTree measures a barrier after the top folder of the tree was renamed.
func BenchmarkRenameTree(b *testing.B) {
	dir := b.TempDir()
	const folders = 1000
	for i := range folders {
		if err := os.MkdirAll(fmt.Sprintf("%s/a/%d/%d", dir, i/30, i), 0o755); err != nil {
			b.Fatal(err)
		}
	}
	root, err := rootfs.Open(dir, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer root.Close()
	w, err := Open(context.Background(), root, &Options{idle: true})
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	from, to := "/a", "/b"
	for b.Loop() {
		if err := os.Rename(dir+from, dir+to); err != nil {
			b.Fatal(err)
		}
		from, to = to, from
		if _, err := w.Barrier(context.Background(), func(*Changes) {}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/folders, "µs/folder")
}
