package stress

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// NeedsUnix skips a test that needs symlinks, permission bits, special files or names
// that Windows can't store. The Windows counterparts are in files called
// *_windows_test.go.
func NeedsUnix(t testing.TB, what string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skipf("%s: not on Windows", what)
	}
}

// CanLink reports whether symlinks can be made. Windows requires a privilege, and Wine 8
// reports success without making one.
func CanLink(t testing.TB) bool {
	t.Helper()
	probe := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink("x", probe); err != nil {
		return false
	}
	_, err := os.Lstat(probe)
	return err == nil
}

// NeedsCase skips a test with names that differ only in case or Unicode form, which are
// equal on most volumes of Windows and macOS.
func NeedsCase(t testing.TB) {
	t.Helper()
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skip("names that differ in case only are one name here")
	}
}
