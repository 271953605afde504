package index

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"quarry/internal/rootfs"
	"quarry/internal/stress"
	"quarry/match"
)

// A file has a second name outside the root. Writes through that name cause no event, but every
// Fresh detects them, and doesn't read the file if there was no write.
func TestSecondNameOutside(t *testing.T) {
	w := newWorld(t, 1, false)
	outside := filepath.Join(t.TempDir(), "outside")
	w.write("a", "alpha\n")
	w.write("b", "beta\n")
	if err := os.Link(filepath.Join(w.dir, "a"), outside); err != nil {
		t.Skipf("no hard links here, set TMPDIR to a file system that has them: %v", err)
	}
	w.open()
	w.refresh()
	ctx := context.Background()
	ask := func(word string) []string {
		snap, err := w.ix.Fresh(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer snap.Close()
		c, err := snap.Candidates(Ask{Need: match.MustCompile(word, match.Options{}).Need()})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		if err := c.Each(func(d *Doc) bool { got = append(got, d.Path()); return true }); err != nil {
			t.Fatal(err)
		}
		return got
	}
	run := stress.Start(t, "identity: a second name outside", 20, 2_000)
	for seed := range run.Cases() {
		word := fmt.Sprintf("word%d", seed)
		if err := os.WriteFile(outside, []byte(word+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := ask(word); !slices.Contains(got, "a") {
			run.Violation(seed, "candidates for %s are %q, and a has it", word, got)
		}
		if seed%3 == 0 {
			if err := w.ix.Flush(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
	// Once the index is quiet, the file is no candidate for text that it doesn't contain.
	for deadline := time.Now().Add(time.Minute); len(ask("nowhere")) > 0; {
		if time.Now().After(deadline) {
			t.Fatalf("%q are candidates for a word that is nowhere", ask("nowhere"))
		}
		if err := w.ix.Flush(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if d, ok := lookup(t, w.ix, "a"); !ok || d.Flags&Linked == 0 {
		t.Errorf("a: %v, flags %b, want it marked for its second name", ok, d.Flags)
	}
}

func lookup(t *testing.T, ix *Index, path string) (Doc, bool) {
	t.Helper()
	snap, err := ix.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	return snap.Lookup(path)
}

// BenchmarkLinked measures the cost of files with several names for every search.
func BenchmarkLinked(b *testing.B) {
	for _, n := range []int{10, 1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir, out := b.TempDir(), b.TempDir()
			for i := range n {
				name := fmt.Sprintf("%d/%d", i/100, i)
				os.MkdirAll(filepath.Join(dir, fmt.Sprint(i/100)), 0o755)
				os.WriteFile(filepath.Join(dir, name), []byte(name), 0o644)
				os.Link(filepath.Join(dir, name), filepath.Join(out, fmt.Sprint(i)))
			}
			root, err := rootfs.Open(dir, &rootfs.Options{AllowAny: true})
			if err != nil {
				b.Fatal(err)
			}
			defer root.Close()
			ix, err := Open(root, openState(b, memoryDir(b)), &Options{Source: quiet{}, racy: 1})
			if err != nil {
				b.Fatal(err)
			}
			defer ix.Close()
			for range 2 {
				snap, err := ix.Fresh(context.Background())
				if err != nil {
					b.Fatal(err)
				}
				snap.Close()
				if err := ix.Flush(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
			for b.Loop() {
				snap, err := ix.Fresh(context.Background())
				if err != nil {
					b.Fatal(err)
				}
				snap.Close()
			}
		})
	}
}

// quiet is a Source that reports no change.
type quiet struct{}

func (quiet) Barrier(context.Context, func(Changes)) ([]rootfs.Path, error) { return nil, nil }
