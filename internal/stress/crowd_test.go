package stress_test

import (
	"encoding/json"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"quarry"
	"quarry/internal/profile"
	"quarry/internal/stress"
)

// Concurrent calls that read the definitions of a large text take turns, so that a client that
// sends dozens of them doesn't use gigabytes.
func TestManyOutlinesAtOnce(t *testing.T) {
	stress.SkipTiny(t)
	stress.SkipRace(t)
	dir := stress.FastDir(t)
	put(t, filepath.Join(dir, "a.java"), strings.Repeat("class A<B, C extends {\n", 1<<20/23))
	ws, err := quarry.Open(dir, &quarry.Options{StateDir: stress.FastDir(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	reg, err := profile.New(ws, &profile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var peak uint64
	stop, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapInuse)
			select {
			case <-stop:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	}()
	var all sync.WaitGroup
	for range 24 {
		all.Go(func() {
			if r := reg.Lookup("outline").Execute(t.Context(), json.RawMessage(`{"path":"a.java"}`)); r.IsError {
				t.Error(r.Text)
			}
		})
	}
	all.Wait()
	close(stop)
	<-watched
	if peak > 300<<20 {
		t.Errorf("24 calls at once took %d MB", peak>>20)
	}
	t.Logf("24 outlines of 1 MB at once: %d MB at most", peak>>20)
}
