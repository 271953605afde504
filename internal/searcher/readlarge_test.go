package searcher

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"quarry/internal/stress"
	"quarry/search"
)

// Reading a file in pieces gives the same answer as reading it whole.
func TestReadLargeAgrees(t *testing.T) {
	stress.SkipTiny(t)
	dir := t.TempDir()
	d := openFolder(t, dir)
	pieces := []string{"a", "line", "\n", "\r\n", "\r", "é", "caf\xe9", " ", "\n\n", strings.Repeat("long ", 30), "𝛃"}
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 4))
		var b strings.Builder
		if rng.IntN(4) == 0 {
			b.WriteString("\ufeff")
		}
		for range rng.IntN(30) {
			k := rng.IntN(len(pieces))
			if seed%2 == 0 && k == 6 {
				continue // UTF-8
			}
			b.WriteString(pieces[k])
		}
		if rng.IntN(20) == 0 { // large enough to take several reads
			b.WriteString(strings.Repeat("filler\r\n", 60<<10) + "end")
		}
		if rng.IntN(40) == 0 {
			b.WriteString("\x00")
		}
		if b.String() == "\ufeff" {
			continue // there is no file of this size
		}
		name := fmt.Sprint(seed)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		opts := &search.ReadOptions{MaxLines: rng.IntN(6), MaxBytes: rng.IntN(3) * rng.IntN(60)}
		if rng.IntN(2) == 0 {
			opts.Start = 1 + rng.IntN(8)
			opts.End = rng.IntN(2) * (opts.Start + rng.IntN(5))
		}
		want, wantErr := d.Read(t.Context(), name, opts)
		p, _, err := d.start(name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := d.readLarge(t.Context(), p, opts)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Fatalf("seed %d: %v, want %v", seed, err, wantErr)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("seed %d, %+v, %.300q:\n%s", seed, *opts, b.String(), diff)
		}
	}
}

// Reading part of a line takes memory only for that part, however long the line is.
func TestReadLargeIsBounded(t *testing.T) {
	stress.SkipShort(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "one"), []byte("first\n"+strings.Repeat("no end ", stress.Size(3, 12)<<20)), 0o666); err != nil {
		t.Fatal(err)
	}
	d := openFolder(t, dir)
	for _, opts := range []search.ReadOptions{{Start: 1, End: 1, MaxBytes: 100 << 10}, {MaxLines: 2000, MaxBytes: 100 << 10}, {Start: 2, MaxBytes: 100 << 10}} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		text, err := d.Read(t.Context(), "one", &opts)
		runtime.ReadMemStats(&after)
		if err != nil || text.Total != 2 || len(text.Lines) == 0 {
			t.Fatalf("%+v: %+v, %v", opts, text, err)
		}
		if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 4 {
			t.Errorf("%+v: %d MB for 100 KB of a line of many MB", opts, took)
		}
	}
}
