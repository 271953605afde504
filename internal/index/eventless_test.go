package index

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"quarry/internal/rootfs"
)

// A file that changed without an event is always searched from then on; one that changed in
// a reported tree is not, however many there are.
func TestOnlyEventlessFilesAreKept(t *testing.T) {
	w := newWorld(t, 1, false)
	for _, name := range []string{"d/told", "e/untold"} {
		w.write(name, "text")
	}
	w.open()
	w.refresh()
	for _, name := range []string{"d/told", "e/untold"} {
		if err := os.WriteFile(filepath.Join(w.dir, name), []byte("other text"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w.pending = Changes{Trees: []rootfs.Path{w.path("d")}, Stamps: true}
	snap, err := w.ix.Fresh(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	snap.Close()
	if err := w.ix.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
	snap, err = w.ix.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	for name, want := range map[string]bool{"d/told": false, "e/untold": true} {
		if d, ok := snap.Lookup(name); !ok || (d.Flags&Linked != 0) != want {
			t.Errorf("%s: found %v, always searched %v, want %v", name, ok, d.Flags&Linked != 0, want)
		}
	}
}
