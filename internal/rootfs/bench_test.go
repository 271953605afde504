package rootfs

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"quarry/internal/policy"
)

// corpus returns a big tree to measure on: QUARRY_CORPUS, or the Go source tree.
func corpus(b *testing.B) string {
	for _, dir := range []string{os.Getenv("QUARRY_CORPUS"), filepath.Join(os.Getenv("GOROOT"), "src"), "/usr/local/go/src"} {
		if _, err := os.Stat(filepath.Join(dir, ".")); dir != "" && dir != "src" && err == nil {
			return dir
		}
	}
	b.Skip("no tree to measure on: set QUARRY_CORPUS to one, or install Go from go.dev")
	return ""
}

// BenchmarkList lists a whole tree on one goroutine, compared with the standard library.
func BenchmarkList(b *testing.B) {
	dir := corpus(b)
	r := openRoot(b, dir, nil)
	b.Run("rootfs", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			d, err := r.OpenDir(Path{})
			must(b, err)
			b.ReportMetric(float64(countTree(b, d)), "files")
		}
	})
	b.Run("filepath.WalkDir", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			n := 0
			must(b, filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
				if err == nil && d.Type().IsRegular() {
					n++
				}
				return nil
			}))
			b.ReportMetric(float64(n), "files")
		}
	})
}

func countTree(t testing.TB, d *Dir) int {
	entries, err := d.Read(nil)
	must(t, err)
	n := 0
	for _, e := range entries {
		switch e.Type {
		case TypeFile:
			n++
		case TypeDir:
			if d.root.Policy().Entry(d.path.s, e.Name, true) == policy.Allowed {
				sub, err := d.OpenDir(e.Name)
				must(t, err)
				n += countTree(t, sub)
			}
		}
	}
	d.Close()
	return n
}

// BenchmarkOpen opens and closes one file four folders down.
func BenchmarkOpen(b *testing.B) {
	dir := workspace(b, "a/b/c/d/file.txt")
	r := openRoot(b, dir, nil)
	p := at(b, r, "a/b/c/d/file.txt")
	d, err := r.OpenDir(p.Dir())
	must(b, err)
	defer d.Close()
	std, err := os.OpenRoot(dir)
	must(b, err)
	defer std.Close()
	b.Run("Root", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			f, err := r.OpenFile(p)
			must(b, err)
			f.Close()
		}
	})
	b.Run("Dir", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			f, err := d.OpenFile("file.txt")
			must(b, err)
			f.Close()
		}
	})
	b.Run("Resolve", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, err := r.Resolve("a/b/c/d/file.txt")
			must(b, err)
		}
	})
	b.Run("os.Open", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			f, err := os.Open(dir + "/a/b/c/d/file.txt")
			must(b, err)
			f.Close()
		}
	})
	b.Run("os.Root", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			f, err := std.Open("a/b/c/d/file.txt")
			must(b, err)
			f.Close()
		}
	})
}
