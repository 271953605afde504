package stress

import (
	"testing"

	"golang.org/x/sys/windows"
)

// UnderWine reports whether the program runs under Wine.
func UnderWine() bool {
	return windows.NewLazySystemDLL("ntdll.dll").NewProc("wine_get_version").Find() == nil
}

// SkipWine skips a test of something that Wine does differently from Windows.
func SkipWine(t testing.TB, what string) {
	t.Helper()
	if UnderWine() {
		t.Skipf("%s: not under Wine", what)
	}
}

// Samples reports whether a test that compares two ways to the same answer takes the
// i-th case: all on Windows, one in eight under Wine, where opening a file takes some
// thirty times as long as on Linux.
func Samples(i int) bool { return i%8 == 0 || !UnderWine() }
