package stress

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// NeedsUnix skips a test of symlinks, permission bits, special files or names
// that Windows can't hold. What is the same there has tests of its own in
// files called *_windows_test.go.
func NeedsUnix(t testing.TB, what string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skipf("%s: not on Windows", what)
	}
}

// NeedsCase skips a test with names that differ in case or Unicode form only,
// where the file system takes them for one.
func NeedsCase(t testing.TB) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "A"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "a")); err == nil {
		t.Skip("names that differ in case only: the file system takes them for one")
	}
}
