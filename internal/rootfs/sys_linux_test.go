//go:build linux && !portable

package rootfs

import (
	"strings"
	"testing"
)

// forceByName makes r behave as on a kernel without openat2.
func forceByName(r *Root) bool { r.sys.byName = true; return true }

// Opening paths with and without openat2 has the same results.
func TestByNameAgrees(t *testing.T) {
	dir := workspace(t, "a/b/c/f", "a/l -> b", "up -> ..", "loop -> loop", "a/b/c/out -> /etc/passwd", strings.Repeat("x", 250)+"/f")
	fast, slow := openRoot(t, dir, nil), openRoot(t, dir, nil)
	forceByName(slow)
	for _, user := range []string{"a/b/c/f", "a/l/c/f", "a/b", ".", "up/x", "up", "loop", "loop/x", "a/b/c/f/x", "a/b/c/out", "none/x", "a/l",
		strings.Repeat("x", 250) + "/f"} {
		p, errP := fast.Resolve(user)
		q, errQ := slow.Resolve(user)
		if p != q || (errP == nil) != (errQ == nil) || errP != nil && KindOf(errP) != KindOf(errQ) {
			t.Errorf("Resolve(%q): %v, %v; without openat2 %v, %v", user, p, errP, q, errQ)
			continue
		}
		for _, path := range []Path{p, {strings.TrimPrefix(user, ".")}} {
			for what, open := range map[string]func(*Root) error{
				"OpenFile": func(r *Root) error {
					f, err := r.OpenFile(path)
					if err == nil {
						f.Close()
					}
					return err
				},
				"OpenDir": func(r *Root) error {
					d, err := r.OpenDir(path)
					if err == nil {
						d.Close()
					}
					return err
				},
				"Stat": func(r *Root) error { _, err := r.Stat(path); return err },
			} {
				errP, errQ := open(fast), open(slow)
				if (errP == nil) != (errQ == nil) || errP != nil && KindOf(errP) != KindOf(errQ) {
					t.Errorf("%s(%q): %v; without openat2 %v", what, path, errP, errQ)
				}
			}
		}
	}
}

func TestOpenAllocates(t *testing.T) {
	r := openRoot(t, workspace(t, "a/b/f"), nil)
	p := at(t, r, "a/b/f")
	if n := testing.AllocsPerRun(100, func() {
		f, err := r.OpenFile(p)
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
	}); n > 1 {
		t.Errorf("OpenFile allocates %v times, want only the File", n)
	}
	if n := testing.AllocsPerRun(100, func() { r.Resolve("a/b/f") }); n > 0 {
		t.Errorf("Resolve allocates %v times", n)
	}
}

func TestFSKind(t *testing.T) {
	r := openRoot(t, t.TempDir(), nil)
	if k := r.FSKind(); k == FSUnknown {
		t.Logf("the file system of the temporary folder is unknown to KindOf")
	}
	if i, err := r.Stat(Path{}); err != nil || i.Type != TypeDir {
		t.Errorf("Stat of the root = %+v, %v", i, err)
	}
}
