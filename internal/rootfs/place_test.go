package rootfs

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// A root knows when its path leads to another folder, whatever happened to it.
func TestInPlace(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open folder can't be moved on Windows")
	}
	move := func(t *testing.T, dir string) {
		if err := os.Rename(dir, dir+".bak"); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name string
		do   func(t *testing.T, dir string)
		want bool
	}{
		{"untouched", func(*testing.T, string) {}, true},
		{"moved", move, false},
		{"moved and made anew", func(t *testing.T, dir string) { move(t, dir); os.Mkdir(dir, 0o755) }, false},
		{"moved and moved back", func(t *testing.T, dir string) { move(t, dir); os.Rename(dir+".bak", dir) }, true},
		{"a symlink to itself", func(t *testing.T, dir string) { move(t, dir); os.Symlink(dir+".bak", dir) }, false},
		{"a file", func(t *testing.T, dir string) { move(t, dir); os.WriteFile(dir, nil, 0o644) }, false},
		{"a folder above moved and replaced", func(t *testing.T, dir string) {
			move(t, filepath.Dir(dir))
			os.MkdirAll(dir, 0o755)
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "above", "ws")
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			r, err := Open(dir, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			c.do(t, dir)
			if err := r.InPlace(); (err == nil) != c.want || err != nil && !errors.Is(err, ErrReplaced) {
				t.Errorf("InPlace: %v, want in place %v", err, c.want)
			}
		})
	}
}
