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

// CanLink reports whether symlinks can be made. Windows wants a privilege for it,
// and Wine 8 says it has made one and hasn't.
func CanLink(t testing.TB) bool {
	t.Helper()
	probe := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink("x", probe); err != nil {
		return false
	}
	_, err := os.Lstat(probe)
	return err == nil
}

// NeedsCase skips a test with names that differ in case or Unicode form only,
// which most volumes of Windows and macOS take for one.
func NeedsCase(t testing.TB) {
	t.Helper()
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skip("names that differ in case only are one name here")
	}
}
