package index

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The text size that an index reports is the size of the current files: older versions and deleted or binary
// files don't count.
func TestStatusCountsText(t *testing.T) {
	files := map[string]string{"binary": "\x00\x01" + strings.Repeat("x", 5000)}
	for i := range 200 {
		files[fmt.Sprintf("d%d/f%d", i%5, i)] = strings.Repeat("some text\n", i)
	}
	w := built(t, files)
	text := func() (n int64) {
		for name, content := range files {
			if name != "binary" {
				n += int64(len(content))
			}
		}
		return n
	}
	for round := range 5 {
		for i := range 20 {
			name := fmt.Sprintf("d%d/f%d", i%5, i)
			files[name] = strings.Repeat("other text\n", 100+i+round)
			w.write(name, files[name])
		}
		gone := fmt.Sprintf("d%d/f%d", (100+round)%5, 100+round)
		if err := os.Remove(filepath.Join(w.dir, gone)); err != nil {
			t.Fatal(err)
		}
		delete(files, gone)
		w.refresh()
		if got := w.ix.Status().Text; got != text() {
			t.Errorf("round %d, %d segments: %d bytes of text, want %d", round, len(w.ix.segs), got, text())
		}
	}
	if err := w.ix.join(context.Background(), w.ix.segs); err != nil {
		t.Fatal(err)
	}
	if got := w.ix.Status().Text; got != text() {
		t.Errorf("merged: %d bytes of text, want %d", got, text())
	}
}
