package searcher_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	regime "quarry/internal/stress"
	"quarry/search"
)

// Programs save files in many ways. After any common one, the index only reads the saved
// file: it neither sweeps the tree nor checks all stamps.
func TestSavesCostNoSweep(t *testing.T) {
	regime.SkipTiny(t)
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere every search sweeps")
	}
	dir := fillTree(t, 200)
	full := func(name string) string { return filepath.Join(dir, name) }
	with, without := indexedPair(t, dir, 2)
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(full(name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	rename := func(from, to string) {
		t.Helper()
		if err := os.Rename(full(from), full(to)); err != nil {
			t.Fatal(err)
		}
	}
	remove := func(name string) {
		t.Helper()
		if err := os.Remove(full(name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name     string
		restamps uint64 // allowed per round
		save     func(i int)
	}{
		{"in place", 0, func(i int) { write("f1.txt", fmt.Sprintf("needle %d\n", i)) }},
		{"a new file renamed over the old", 0, func(i int) {
			write("f1.txt.tmp", fmt.Sprintf("needle %d\n", i))
			rename("f1.txt.tmp", "f1.txt")
		}},
		// The events are read together, so the index can't exclude that the second save
		// replaced a hard link of another file.
		{"the same several times between two searches", 1, func(i int) {
			for range 3 {
				write(".f1.txt.swap", fmt.Sprintf("needle %d\n", i))
				rename(".f1.txt.swap", "f1.txt")
			}
		}},
		{"the old one set aside, as vim does", 0, func(i int) {
			write("4913", "")
			remove("4913")
			rename("f1.txt", "f1.txt~")
			write("f1.txt", fmt.Sprintf("needle %d\n", i))
			remove("f1.txt~")
		}},
		{"a new file", 0, func(i int) { write(fmt.Sprintf("new%d.txt", i), "needle\n") }},
		{"a temporary file that comes, is written to and goes", 1, func(i int) {
			write("temporary", "needle\n")
			remove("temporary")
		}},
	} {
		before, err := with.Index().Status(ctx)
		if err != nil {
			t.Fatal(err)
		}
		const rounds = 20
		for i := range rounds {
			c.save(i)
			q := search.Query{Pattern: "needle"}
			if got, want := answer(t, with, q), answer(t, without, q); got != want {
				t.Fatalf("%s: by index\n%s\nby scan\n%s", c.name, got, want)
			}
		}
		after, err := with.Index().Status(ctx)
		if err != nil {
			t.Fatal(err)
		}
		sweeps, restamps := after.Sweeps-before.Sweeps, after.Restamps-before.Restamps
		if sweeps > 0 || restamps > c.restamps*rounds {
			t.Errorf("%s: %d sweeps and %d comparisons of stamps in %d rounds", c.name, sweeps, restamps, rounds)
		}
	}
}
