package cli

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestSortAccessed checks that results are ordered by the access times before the search. Searching
// a file reads it, and so changes its access time.
func TestSortAccessed(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	// The order by access time differs from the order by path, in which the files are read. The
	// times are before the last write, because a file system mounted with relatime only records a
	// read if the old access time is before that.
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
