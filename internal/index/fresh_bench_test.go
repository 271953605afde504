package index

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"quarry/internal/rootfs"
)

// BenchmarkFresh measures the cost of a search before it starts, in a tree of 20,000 files in 400 folders:
// when nothing happened, after an edit, and after a new file appeared.
func BenchmarkFresh(b *testing.B) {
	dir := memoryDir(b)
	for i := range 400 {
		d := filepath.Join(dir, fmt.Sprintf("top%d", i%20), fmt.Sprintf("sub%d", i/20))
		os.MkdirAll(d, 0o755)
		for j := range 50 {
			os.WriteFile(filepath.Join(d, fmt.Sprintf("f%d", j)), fmt.Appendf(nil, "text %d of %d\n", j, i), 0o644)
		}
	}
	root, err := rootfs.Open(dir, &rootfs.Options{AllowAny: true})
	if err != nil {
		b.Fatal(err)
	}
	defer root.Close()
	ctx := context.Background()
	src := &fixedSource{}
	ix, err := Open(root, openState(b, memoryDir(b)), &Options{Source: src})
	if err != nil {
		b.Fatal(err)
	}
	defer ix.Close()
	if err := ix.Sweep(ctx, rootfs.Path{}); err != nil {
		b.Fatal(err)
	}
	if err := ix.Flush(ctx); err != nil {
		b.Fatal(err)
	}
	fresh := func(b *testing.B) {
		snap, err := ix.Fresh(ctx)
		if err != nil {
			b.Fatal(err)
		}
		snap.Close()
	}
	b.Run("idle", func(b *testing.B) {
		for b.Loop() {
			fresh(b)
		}
	})
	b.Run("edit", func(b *testing.B) {
		p, _ := root.Known("top7/sub7/f7")
		for b.Loop() {
			ix.MarkDirty(p)
			fresh(b)
		}
	})
	b.Run("new", func(b *testing.B) {
		for n := 0; b.Loop(); n++ {
			name := fmt.Sprintf("top7/sub7/new%d", n%1000)
			os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o644)
			p, _ := root.Known(name)
			ix.MarkDirty(p)
			fresh(b)
			os.Remove(filepath.Join(dir, name))
			ix.MarkDirty(p)
		}
	})
}

type fixedSource struct{}

func (*fixedSource) Barrier(context.Context, func(Changes)) ([]rootfs.Path, error) { return nil, nil }
