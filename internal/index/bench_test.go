package index

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"quarry/internal/rootfs"
	"quarry/internal/stress"
	"quarry/internal/walk"
	"quarry/match"
)

// TestBuildFigures builds the index of QUARRY_BENCH_TREE and prints the figures that have targets.
func TestBuildFigures(t *testing.T) {
	tree := os.Getenv("QUARRY_BENCH_TREE")
	if tree == "" || !stress.Thorough() {
		t.Skip("figures only: set QUARRY_BENCH_TREE to a large folder and STRESS=short")
	}
	root, err := rootfs.Open(tree, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	stateDir := t.TempDir()
	state := openState(t, stateDir)
	ctx := context.Background()

	peak, stop := watchHeap()
	cpu := cpuTime()
	start := time.Now()
	ix, err := Open(root, state, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := ix.Sweep(ctx, rootfs.Path{}); err != nil {
		t.Fatal(err)
	}
	listed := time.Since(start)
	if err := ix.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	built := time.Since(start)
	cpu = cpuTime() - cpu
	stop()
	st := ix.Status()
	fmt.Printf("build: %.2f s (listing %.2f s), %.2f s of processor time, %d files, %d MB of text, peak heap %d MB, rss high %s\n",
		built.Seconds(), listed.Seconds(), cpu.Seconds(), st.Documents, st.Text>>20, peak.Load()>>20, highWater())
	fmt.Printf("disk: %.1f MB in %d segments, %.2f %% of the text; still dirty %d\n",
		float64(st.Bytes)/1e6, st.Segments, 100*float64(st.Bytes)/float64(st.Text), st.Dirty)
	if len(ix.segs) == 0 {
		t.Skipf("the rules in %s leave out every file", tree)
	}
	h := ix.segs[0].seg
	fmt.Printf("sections: postings %d, grams %d, entries %d, restarts %d, paths %d, stamps %d, blocks %d KB; %d documents, %d blocks\n", len(h.postings)>>10, len(h.grams.heads)>>10,
		len(h.grams.entries)>>10, len(h.docs.restarts)>>10, len(h.docs.paths)>>10, len(h.docs.stamps)>>10,
		(len(h.blocks.entries)+len(h.blocks.starts))>>10, h.docs.n, h.blocks.n)
	ix.Close()

	start = time.Now()
	if ix, err = Open(root, state, nil); err != nil {
		t.Fatal(err)
	}
	opened := time.Since(start)
	snap, err := ix.Fresh(ctx)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("restart: open %.0f ms, with sweep %.0f ms; dirty %d\n",
		opened.Seconds()*1e3, time.Since(start).Seconds()*1e3, ix.Status().Dirty)
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	fmt.Printf("serving: heap %d MB\n", m.HeapAlloc>>20)
	for _, q := range []struct {
		expr string
		c    match.Case
	}{
		{"EXPORT_SYMBOL_NOT_THERE", 0}, {"PM_RESUME_FOO|hrtimer_nanosleep_restart", 0}, {"mutex_lock", 0}, {"mutex_lock", match.Insensitive},
		{"return", 0}, {"[A-Z]+_SUSPEND", 0}, {`\w{5}\s+\w{5}\s+\w{5}`, 0}, {"err_.*goto", 0}, {"ERR_PTR|IS_ERR|PTR_ERR", 0}, {"linux/.*\\.h", 0},
	} {
		p := match.MustCompile(q.expr, match.Options{Case: q.c})
		best := time.Hour
		var c *Candidates
		for range 7 {
			at := time.Now()
			if c, err = snap.Candidates(Ask{Need: p.Need(), ByLine: true}); err != nil {
				t.Fatal(err)
			}
			best = min(best, time.Since(at))
		}
		at := time.Now()
		n := 0
		c.Each(func(*Doc) bool { n++; return true })
		fmt.Printf("lookup %-45q %7.3f ms, listing %6.2f ms, %d: %v\n", q.expr, best.Seconds()*1e3, time.Since(at).Seconds()*1e3, n, c.Plan)
	}
	snap.Close()
	if os.Getenv("QUARRY_VERIFY") != "" {
		start = time.Now()
		v, err := ix.Verify(ctx, func(path, what string) { t.Errorf("%s: %s", path, what) }, nil)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Printf("verify: %.1f s, %+v\n", time.Since(start).Seconds(), v)
	}
	if err := ix.Close(); err != nil {
		t.Fatal(err)
	}
}

// watchHeap samples the heap in use.
func watchHeap() (*atomic.Uint64, func()) {
	peak := new(atomic.Uint64)
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak.Store(max(peak.Load(), m.HeapInuse+m.StackInuse))
			select {
			case <-done:
				return
			case <-tick.C:
			}
		}
	}()
	return peak, func() { close(done); <-stopped }
}

// cpuTime returns the processor time of all threads so far, 0 if unknown.
func cpuTime() time.Duration {
	b, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	f := strings.Fields(rest)
	user, _ := strconv.Atoi(f[11])
	system, _ := strconv.Atoi(f[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}

// highWater returns the largest resident size of the process so far.
func highWater() string {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, _ := strconv.Atoi(strings.Fields(rest)[0])
			return fmt.Sprintf("%d MB", kb>>10)
		}
	}
	return "unknown"
}

func openState(t testing.TB, dir string) *rootfs.Root {
	t.Helper()
	state, err := rootfs.Open(dir, &rootfs.Options{Trusted: true, AllowAny: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { state.Close() })
	return state
}

// BenchmarkSweep compares all stamps of QUARRY_BENCH_TREE, beside a walk that
// only lists it, a comparison of stamps alone, and passes over all paths.
func BenchmarkSweep(b *testing.B) {
	tree := os.Getenv("QUARRY_BENCH_TREE")
	if tree == "" {
		b.Skip("set QUARRY_BENCH_TREE to a large folder")
	}
	root, err := rootfs.Open(tree, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer root.Close()
	ctx := context.Background()
	ix, err := Open(root, openState(b, memoryDir(b)), nil)
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
	b.Run("walk", func(b *testing.B) {
		for b.Loop() {
			walk.Ordered(ctx, root, &walk.Options{Hidden: true}, false, func(walk.Item) error { return nil })
		}
	})
	b.Run("sweep", func(b *testing.B) {
		for b.Loop() {
			if err := ix.Sweep(ctx, rootfs.Path{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("restamp", func(b *testing.B) {
		for b.Loop() {
			if err := ix.restamp(ctx, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("paths", func(b *testing.B) {
		snap, err := ix.Snapshot()
		if err != nil {
			b.Fatal(err)
		}
		defer snap.Close()
		for b.Loop() {
			list, err := snap.Paths(ctx, rootfs.Path{}, plainLens(true), func() func([]byte) bool {
				return func(p []byte) bool { return len(p)%64 == 0 }
			})
			if err != nil || len(list) == 0 {
				b.Fatal(err)
			}
		}
	})
	b.Run("files", func(b *testing.B) {
		snap, err := ix.Snapshot()
		if err != nil {
			b.Fatal(err)
		}
		defer snap.Close()
		c, err := snap.Candidates(Ask{Hidden: true})
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for b.Loop() {
			n = 0
			if err := c.Each(func(*Doc) bool { n++; return true }); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/file")
	})
}
