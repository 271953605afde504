package index

import (
	"context"
	"fmt"
	"testing"

	"quarry/internal/rootfs"
	"quarry/internal/stress"
	"quarry/internal/watch"
)

// watched makes a Source of a Watcher.
type watched struct{ *watch.Watcher }

func (w watched) Barrier(ctx context.Context, apply func(Changes)) ([]rootfs.Path, error) {
	return w.Watcher.Barrier(ctx, func(c *watch.Changes) {
		ch := Changes{Trees: c.Trees}
		for _, f := range c.Files {
			ch.Files = append(ch.Files, f.Path)
		}
		apply(ch)
	})
}

// TestIndexFollowsTheKernel is TestIndexFollowsTheTree with the kernel's events.
func TestIndexFollowsTheKernel(t *testing.T) {
	stress.SkipTiny(t)
	for seed := range stress.Start(t, "index follows the kernel", 3, 300).Cases() {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := newWorld(t, 100+seed, false)
			for range 30 {
				w.change()
			}
			ctx := context.Background()
			watcher, err := watch.Open(ctx, w.root, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer watcher.Close()
			if w.ix, err = Open(w.root, w.state, &Options{Fields: wordFields, Source: watched{watcher}, MaxIgnored: []int{0, 12, 10_000}[seed%3]}); err != nil {
				t.Fatal(err)
			}
			for range 80 {
				for range w.r.IntN(5) {
					w.change()
				}
				w.check()
				switch w.r.IntN(6) {
				case 0, 1:
					if err := w.ix.Flush(ctx); err != nil {
						t.Fatal(err)
					}
				case 2:
					if err := w.ix.Merge(ctx); err != nil {
						t.Fatal(err)
					}
				}
			}
		})
	}
}
