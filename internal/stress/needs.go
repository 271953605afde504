package stress

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// NeedsUnix skips a test on Windows that needs symlinks, permission bits, special files or names
// that Windows can't store. Files called *_windows_test.go have tests for Windows instead.
func NeedsUnix(t testing.TB, what string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skipf("%s: not on Windows", what)
	}
}

// CanLink reports whether this process can make symlinks. Windows requires a privilege for it, and
// Wine 8 reports success without making one.
func CanLink(t testing.TB) bool {
	t.Helper()
	probe := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink("x", probe); err != nil {
		return false
	}
	_, err := os.Lstat(probe)
	return err == nil
}

// NeedsCase skips a test that needs names differing only in case or Unicode form. Most volumes of
// Windows and macOS treat such names as equal.
func NeedsCase(t testing.TB) {
	t.Helper()
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skip("names that differ in case only are one name here")
	}
}
