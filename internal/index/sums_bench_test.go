package index

import (
	"os"
	"testing"
	"time"

	"quarry/internal/rootfs"
	"quarry/match"
)

// BenchmarkLookup queries a stored index, QUARRY_BENCH_INDEX. The cost of checking the lists of
// each query is the difference from a build without checks.
func BenchmarkLookup(b *testing.B) {
	dir := os.Getenv("QUARRY_BENCH_INDEX")
	if dir == "" {
		b.Skip("set QUARRY_BENCH_INDEX to the folder of an index")
	}
	root, err := rootfs.Open(b.TempDir(), &rootfs.Options{AllowAny: true})
	if err != nil {
		b.Fatal(err)
	}
	defer root.Close()
	ix, err := Open(root, openState(b, dir), &Options{ReadOnly: true})
	if err != nil {
		b.Fatal(err)
	}
	defer ix.Close()
	snap, err := ix.Snapshot()
	if err != nil {
		b.Fatal(err)
	}
	defer snap.Close()
	for _, expr := range []string{"PM_RESUME", "zzyzxqq", "mutex_lock", "EXPORT_SYMBOL_NOT_THERE", "[A-Z]+_SUSPEND"} {
		b.Run(expr, func(b *testing.B) {
			need := match.MustCompile(expr, match.Options{}).Need()
			best := time.Duration(1 << 62)
			for b.Loop() {
				from := time.Now()
				if _, err := snap.Candidates(Ask{Need: need, ByLine: true}); err != nil {
					b.Fatal(err)
				}
				best = min(best, time.Since(from))
			}
			b.ReportMetric(float64(best.Nanoseconds()), "best-ns")
		})
	}
}
