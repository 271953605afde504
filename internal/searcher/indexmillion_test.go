package searcher_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"quarry"
	"quarry/search"
)

// TestMillionFiles measures a million small files: searches for paths and for a rare
// word, memory, and the time to the first answer after a restart. QUARRY_MILLION sets the
// number of millions, possibly a fraction.
func TestMillionFiles(t *testing.T) {
	var millions float64
	if fmt.Sscan(os.Getenv("QUARRY_MILLION"), &millions); millions <= 0 {
		t.Skip("set QUARRY_MILLION=1 to make a million files")
	}
	n := int(millions * 1e6)
	dir, state := t.TempDir(), t.TempDir()
	for i := range n {
		sub := filepath.Join(dir, fmt.Sprintf("dir%03d/sub%02d", i>>12, i>>6&63))
		if i&63 == 0 {
			if err := os.MkdirAll(sub, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		text := fmt.Appendf(nil, "common words of file %d\nand value %x of this one\n", i, uint64(i)*2654435761)
		if err := os.WriteFile(filepath.Join(sub, fmt.Sprintf("file%03d.txt", i&63)), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	options := &quarry.Options{Index: &quarry.IndexOptions{Dir: state}}
	start := time.Now()
	ws, err := quarry.Open(dir, options)
	if err != nil {
		t.Fatal(err)
	}
	if err := ws.Index().Wait(ctx); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d files built in %.1f s", n, time.Since(start).Seconds())
	ws.Close()
	start = time.Now()
	if ws, err = quarry.Open(dir, options); err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	if err := ws.Index().Follow(ctx, func(search.Progress) {}); err != nil {
		t.Fatal(err)
	}
	t.Logf("restart to ready: %v", time.Since(start))
	last := fmt.Sprintf("dir%03d/sub%02d/file%03d.txt", (n-1)>>12, (n-1)>>6&63, (n-1)&63)
	finds := func(globs ...string) func(int) {
		return func(int) {
			r, err := ws.Find(ctx, search.FindQuery{Scope: search.Scope{Globs: globs}})
			if err != nil || len(r.Entries) == 0 {
				t.Fatal(r, err)
			}
		}
	}
	found := best(7, finds("/"+last))
	name := best(7, finds("*e063.*"))
	everything := best(5, finds())
	rare := best(7, func(int) {
		r, err := ws.Search(ctx, search.Query{Pattern: fmt.Sprintf("value %x ", uint64(n-1)*2654435761)})
		if err != nil || len(r.Files) != 1 {
			t.Fatal(r, err)
		}
	})
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	st, _ := ws.Index().Status(ctx)
	t.Logf("one path %v, 1 in 64 names %v, all %v; rare literal %v; heap %d MB, %d watches, %d MB on disk",
		found, name, everything, rare, m.HeapAlloc>>20, st.Watches, st.DiskBytes>>20)
	if name > 50*time.Millisecond {
		slower(t, "a search of paths takes more than 50 ms")
	}
	if rare > 15*time.Millisecond {
		slower(t, "a rare literal takes more than 15 ms")
	}
}
