package fuzzy

import (
	"os"
	"testing"

	"quarry/internal/stress"
)

// BenchmarkRank ranks the paths of QUARRY_BENCH_TREE. The aim is under 10 ms for 78,000 paths.
// cpu-ms/op is the processor time of all threads, which doesn't depend on how busy the machine is.
func BenchmarkRank(b *testing.B) {
	dir := os.Getenv("QUARRY_BENCH_TREE")
	if dir == "" {
		b.Skip("set QUARRY_BENCH_TREE to a large folder")
	}
	paths := listTree(b, dir)
	for _, query := range []string{"tcp_input", "ipv4/tcp_input", "input ipv4 tcp", "sched_f", "dal", "tcp_inptu", "s", "drivers net intel"} {
		q, err := Compile(query)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(query, func(b *testing.B) {
			began := stress.CPU()
			for b.Loop() {
				q.Rank(paths, 0, 0, 20)
			}
			b.ReportMetric(float64((stress.CPU()-began).Microseconds())/1000/float64(b.N), "cpu-ms/op")
		})
	}
}
