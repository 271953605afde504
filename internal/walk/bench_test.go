package walk

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"testing"
	"time"

	"quarry/internal/rootfs"
)

// ripgrep returns the path of rg: QUARRY_RG, or else rg in the PATH.
func ripgrep(t testing.TB) string {
	t.Helper()
	rg := os.Getenv("QUARRY_RG")
	if rg == "" {
		rg = "rg"
	}
	p, err := exec.LookPath(rg)
	if err != nil {
		t.Skip("ripgrep is not installed: install it or set QUARRY_RG")
	}
	return p
}

// BenchmarkListing lists QUARRY_BENCH_TREE, with the paths written to the null device, in turn with
// `rg --files`. It reports the best time of each and their ratio; below 1, Walk is faster. Walk
// runs in this process, but rg in a process of its own, whose start is a notable part of the time.
// So net-ratio subtracts rg's time for an empty folder.
func BenchmarkListing(b *testing.B) {
	tree := os.Getenv("QUARRY_BENCH_TREE")
	if tree == "" {
		b.Skip("set QUARRY_BENCH_TREE to a large folder")
	}
	rg := ripgrep(b)
	root, err := rootfs.Open(tree, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer root.Close()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer null.Close()
	empty := b.TempDir()
	ours, theirs, start := time.Hour, time.Hour, time.Hour
	files := 0
	timed := func(best *time.Duration, f func()) {
		t := time.Now()
		f()
		*best = min(*best, time.Since(t))
	}
	runRg := func(dir string) {
		cmd := exec.Command(rg, "--no-config", "--no-require-git", "--files")
		cmd.Dir, cmd.Stdout = dir, null
		if err := cmd.Run(); err != nil && cmd.ProcessState.ExitCode() != 1 {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		timed(&theirs, func() { runRg(tree) })
		timed(&start, func() { runRg(empty) })
		timed(&ours, func() { files = printAll(b, root, null) })
	}
	b.ReportMetric(float64(files), "files")
	b.ReportMetric(float64(ours.Microseconds())/1000, "ours-ms")
	b.ReportMetric(float64(theirs.Microseconds())/1000, "rg-ms")
	b.ReportMetric(float64(ours)/float64(theirs), "ratio")
	b.ReportMetric(float64(ours)/float64(theirs-start), "net-ratio")
}

// printAll writes each path and a newline, with one write per folder.
func printAll(b *testing.B, root *rootfs.Root, out *os.File) int {
	var mu sync.Mutex
	bufs := make([]bytes.Buffer, runtime.GOMAXPROCS(0))
	report, err := Walk(context.Background(), root, nil, func(v *Visit) error {
		buf := &bufs[v.Worker]
		for _, f := range v.Files {
			if v.Shown != "" {
				buf.WriteString(v.Shown)
				buf.WriteByte('/')
			}
			buf.WriteString(f.Name)
			buf.WriteByte('\n')
		}
		if buf.Len() < 32<<10 {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		_, err := buf.WriteTo(out)
		return err
	})
	for i := range bufs {
		if _, err := bufs[i].WriteTo(out); err != nil {
			b.Fatal(err)
		}
	}
	if err != nil {
		b.Fatal(err)
	}
	return report.Files
}
