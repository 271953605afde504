package notebook

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quarry"
	"quarry/internal/stress"
)

// Large front matter takes linear time or is rejected. yaml.v3 compares all pairs of
// keys, and our search for each property started at the beginning; both took quadratic
// time.
func TestManyKeys(t *testing.T) {
	for _, keys := range []int{40_000, 400_000} {
		var text strings.Builder
		text.WriteString("---\n")
		for i := range keys {
			fmt.Fprintf(&text, "k%d: v%d\n", i, i)
		}
		text.WriteString("---\nx\n")
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "n.md"), []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		ws, err := quarry.Open(dir, &quarry.Options{StateDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		defer ws.Close()
		began := stress.CPU()
		_, list, err := Open(ws).Properties(t.Context(), "n.md")
		took := stress.CPU() - began
		if took > time.Second {
			t.Errorf("%d keys take %v", keys, took)
		}
		switch {
		case keys == 40_000 && (err != nil || len(list) != keys || list[keys-1].Raw != "k39999: v39999" || list[keys-1].Line != keys+1):
			t.Errorf("%d keys: %d properties, the last %+v: %v", keys, len(list), list[len(list)-1], err)
		case keys > 40_000 && (err == nil || !strings.Contains(err.Error(), "at most 1024 are read")):
			t.Errorf("%d keys: %v", keys, err)
		}
	}
}
