package index

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"quarry/internal/rootfs"
	"quarry/internal/trigram"
	"quarry/match"
)

// TestMillion makes the segment of a million small files, without the files, and prints the
// times of queries.
func TestMillion(t *testing.T) {
	if os.Getenv("QUARRY_MILLION") == "" {
		t.Skip("set QUARRY_MILLION=1 to make a million files")
	}
	const n = 1 << 20
	root, err := rootfs.Open(t.TempDir(), &rootfs.Options{AllowAny: true})
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	dir := memoryDir(t)
	ix, err := Open(root, openState(t, dir), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ix.Close()
	b := &build{workers: 2, jobs: make([]job, n), outcomes: make([]outcome, n)}
	w := &buildWorker{build: b, reader: new(reader)}
	x := new(trigram.Extractor)
	for i := range n {
		b.jobs[i].path = fmt.Sprintf("dir%04d/sub%02d/file%03d.txt", i>>12, i>>6&63, i&63)
		b.outcomes[i] = outcome{state: indexed, stamp: Stamp{Ino: uint64(i), Size: 300}}
		x.Add(fmt.Appendf(nil, "common words of file %d\nand value %x of this one\n", i, uint64(i)*2654435761))
		w.job = i
		w.block(x)
	}
	w.flush()
	start := time.Now()
	seg, err := createSegment(ix.state, ix.newName(), nil, func(w *segmentWriter) error { return b.create(w, n) })
	if err != nil {
		t.Fatal(err)
	}
	made := time.Since(start)
	if err := ix.commit(seg, nil, nil); err != nil {
		t.Fatal(err)
	}
	*b = build{}
	*w = buildWorker{}
	info, _ := os.Stat(filepath.Join(dir, seg.name))
	fmt.Printf("a million files: %d MB, lists made in %.1f s\n", info.Size()>>20, made.Seconds())
	snap, err := ix.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	fmt.Printf("heap %d MB\n", m.HeapAlloc>>20)
	for _, expr := range []string{"value 9e3779b1", "common words", "zzzzz", "file 123456", "."} {
		need := match.MustCompile(expr, match.Options{}).Need()
		best, list := time.Hour, time.Hour
		var c *Candidates
		got := 0
		for range 5 {
			at := time.Now()
			if c, err = snap.Candidates(Ask{Need: need, ByLine: true}); err != nil {
				t.Fatal(err)
			}
			best = min(best, time.Since(at))
			at = time.Now()
			got = 0
			c.Each(func(d *Doc) bool { got++; return true })
			list = min(list, time.Since(at))
		}
		fmt.Printf("%-20q %.2f ms, listing %d: %.2f ms; %v\n", expr, best.Seconds()*1e3, got, list.Seconds()*1e3, c.Plan)
	}
}
