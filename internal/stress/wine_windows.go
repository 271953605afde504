package stress

import (
	"testing"

	"golang.org/x/sys/windows"
)

// UnderWine reports whether Wine plays Windows.
func UnderWine() bool {
	return windows.NewLazySystemDLL("ntdll.dll").NewProc("wine_get_version").Find() == nil
}

// SkipWine skips a test of something that Wine does otherwise than Windows.
func SkipWine(t testing.TB, what string) {
	t.Helper()
	if UnderWine() {
		t.Skipf("%s: not under Wine", what)
	}
}
