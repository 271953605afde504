package index

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// A rewrite that keeps inode, size and modification time, long after the file was read, shows
// only in its time of change.
func TestRewriteThatKeepsAllButChangeTime(t *testing.T) {
	w := newWorld(t, 1, true)
	old := time.Now().Add(-time.Hour)
	for name, text := range map[string]string{"a": "alpha\n", "b": "beta!\n"} {
		w.write(name, text)
		if err := os.Chtimes(filepath.Join(w.dir, name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	w.open()
	w.refresh()
	w.calm()
	if got := w.candidates("gamma", Ask{}); len(got) != 0 {
		t.Fatalf("before the rewrite, %q may have gamma", got)
	}
	f, err := os.OpenFile(filepath.Join(w.dir, "a"), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("gamma\n"); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := os.Chtimes(filepath.Join(w.dir, "a"), old, old); err != nil {
		t.Fatal(err)
	}
	w.calm()
	if got := w.candidates("gamma", Ask{}); !slices.Contains(got, "a") {
		t.Errorf("%q may have gamma; a has it", got)
	}
}
