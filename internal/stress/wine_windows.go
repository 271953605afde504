package stress

import (
	"testing"

	"golang.org/x/sys/windows"
)

// UnderWine reports whether the program runs under Wine.
func UnderWine() bool {
	return windows.NewLazySystemDLL("ntdll.dll").NewProc("wine_get_version").Find() == nil
}

// SkipWine skips a test if Wine behaves differently from Windows.
func SkipWine(t testing.TB, what string) {
	t.Helper()
	if UnderWine() {
		t.Skipf("%s: not under Wine", what)
	}
}

// Samples reports whether a test that compares two methods tries case i. On Windows all cases are
// tried. Under Wine one in eight is, because opening a file takes about thirty times as long as on
// Linux.
func Samples(i int) bool { return i%8 == 0 || !UnderWine() }
