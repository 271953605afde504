package stress

import (
	"testing"

	"golang.org/x/sys/windows"
)

// SkipWine skips a test of something that Wine does otherwise than Windows.
func SkipWine(t testing.TB, what string) {
	t.Helper()
	if windows.NewLazySystemDLL("ntdll.dll").NewProc("wine_get_version").Find() == nil {
		t.Skipf("%s: not under Wine", what)
	}
}
