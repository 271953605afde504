package rootfs

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"quarry/internal/stress"
)

// A root notices when its path leads to another folder, for every cause.
func TestInPlace(t *testing.T) {
	move := func(t *testing.T, dir string) {
		if err := os.Rename(dir, dir+".bak"); err != nil {
			if runtime.GOOS == "windows" {
				t.Skipf("Windows renames no folder that holds an open one: %v", err)
			}
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
		{"a symlink to itself", func(t *testing.T, dir string) { move(t, dir); os.Symlink(dir+".bak", dir) }, false}, // or nothing
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

// A root follows its path only to another folder.
func TestFollow(t *testing.T) {
	stress.NeedsUnix(t, "symlinks, and a folder that is renamed while it is open")
	if runtime.GOOS != "linux" {
		t.Skip("only on Linux")
	}
	dir := filepath.Join(t.TempDir(), "ws")
	put := func(text string) {
		t.Helper()
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "f"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("old")
	r, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	read := func() string {
		p, err := r.Resolve("f")
		if err != nil {
			return err.Error()
		}
		data, _, err := r.ReadContent(p, 100)
		if err != nil {
			return err.Error()
		}
		return string(data)
	}
	if moved, err := r.Follow(); moved || err != nil {
		t.Errorf("nothing happened: moved %v, %v", moved, err)
	}
	if err := os.Rename(dir, dir+".bak"); err != nil {
		t.Fatal(err)
	}
	if moved, err := r.Follow(); moved || !errors.Is(err, ErrReplaced) {
		t.Errorf("no folder: moved %v, %v", moved, err)
	}
	if err := os.Symlink(dir+".bak", dir); err != nil {
		t.Fatal(err)
	}
	if moved, err := r.Follow(); moved || !errors.Is(err, ErrReplaced) {
		t.Errorf("a symlink: moved %v, %v", moved, err)
	}
	if got := read(); got != "old" {
		t.Errorf("not followed, but read %q", got)
	}
	os.Remove(dir)
	put("new")
	if moved, err := r.Follow(); !moved || err != nil {
		t.Errorf("another folder: moved %v, %v", moved, err)
	}
	if got := read(); got != "new" || r.InPlace() != nil {
		t.Errorf("read %q after following, in place: %v", got, r.InPlace())
	}
}
