package cli

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestSortAccessed: searching a file is reading it, which changes the time that
// orders it. The times are those before the search.
func TestSortAccessed(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	// The order of times is not that of paths, in which files are read. They are
	// before the time of the last write: a file system that notes only the first
	// read after a write (relatime) notes this one.
	for i, name := range []string{"z", "m", "a"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("word\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now.Add(time.Duration(i-10)*time.Hour), now.Add(-time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	if accessTime("z").After(accessTime("m")) || accessTime("z").IsZero() {
		t.Skip("this file system has no time of access")
	}
	for _, c := range []struct{ flag, want string }{
		{"--sort", "z:1:word\nm:1:word\na:1:word\n"}, {"--sortr", "a:1:word\nm:1:word\nz:1:word\n"},
	} {
		for i, name := range []string{"z", "m", "a"} {
			os.Chtimes(name, now.Add(time.Duration(i-10)*time.Hour), now.Add(-time.Hour))
		}
		if got := runQuarry("", "search", c.flag, "accessed", "word"); got.out != c.want {
			t.Errorf("search %s accessed: %q, want %q (%s)", c.flag, got.out, c.want, got.err)
		}
	}
}
